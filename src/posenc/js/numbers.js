// Numbers as text; posenc.widgets._base writes them the same way.

// A real minus, and none where nothing but zeros follows it.
const signed = (text) => text.replace("-", /[1-9]/.test(text) ? "−" : "");
const spaced = (digits) => digits.replace(/\B(?=(\d{3})+$)/g, "\u202f");

export function fixed(value, digits) {
  return signed(value.toFixed(digits));
}

// Whole numbers keep every digit.
export function formatInteger(value) {
  return signed(spaced(String(value)));
}

const raised = (digits) => [...digits].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit] ?? "⁻").join("");

// Four significant figures, thousands set apart by a narrow space; as a power of ten below 10⁻⁴ and from 10¹² on.
export function grouped(value) {
  const rounded = Number(value.toPrecision(4));
  if (rounded !== 0 && !(Math.abs(rounded) >= 1e-4 && Math.abs(rounded) < 1e12)) {
    const [mantissa, exponent] = rounded.toExponential().split("e");
    return `${signed(mantissa)} × 10${raised(exponent.replace("+", ""))}`;
  }
  const [integer, fraction] = String(rounded).split(".");
  return signed(fraction ? `${spaced(integer)}.${fraction}` : spaced(integer));
}

// “10 000”, “10,000”, “1e4” and “−3” are numbers to a reader; NaN for what is none.
export function parseNumber(text) {
  const plain = text.replace(/[\s\u202f,_]/g, "").replace("−", "-");
  const value = plain === "" ? NaN : Number(plain);
  return Number.isFinite(value) ? value : NaN;
}

"""Markdown that Colab and JupyterLab render as the book does: nothing that only MyST knows."""

from __future__ import annotations

import re

FENCE = re.compile(r"^[ >]*(`{3,}|~{3,})(.*?)$\n(.*?)^[ >]*\1[`~]*[ ]*$", re.DOTALL | re.MULTILINE)
INLINE_CODE = re.compile(r"(?P<role>\{[\w:+-]+\})?(`+)(?!`)(.+?)(?<!`)\2(?!`)", re.DOTALL)
MATH = re.compile(r"\$\$(.+?)\$\$|(?<![\\$])\$(?!\$)(.+?)(?<!\\)\$", re.DOTALL)

# Each is looked for where code and mathematics have been taken out.
FORBIDDEN = [
    (r":::", "a colon fence"),
    (r"^\s*\([\w-]+\)=\s*$", "a label, (name)="),
    (r"\{", "a brace outside mathematics and code"),
    (r"^\+\+\+", "a MyST cell break, +++"),
    (r"^%", "a MyST comment, %"),
    (r"\[\^", "a footnote"),
    (r"^\s*:\s+\S", "a definition list"),
    (r"\\\(|\\\[|\\begin", "mathematics outside $…$ and $$…$$"),
    (r"(?<!\\)\$", "an unpaired $"),
    (r"(?i)<(script|style|iframe|object|embed)\b", "an element that Colab removes"),
    (r"!\[[^\]]*\]\((?!attachment:)", "an image file, which is not there in Colab"),
    (r"(?i)<img\b", "an image file, which is not there in Colab"),
    (r"^>\s*\[!", "a callout of GitHub's"),
]


def faults(markdown: str) -> list[str]:
    """What a Markdown cell has that Colab does not render as the book does."""
    found = []
    for fence in FENCE.finditer(markdown):
        if "{" in fence[2]:
            found.append(f"a directive: {fence[2].strip()}")
    text = FENCE.sub("", markdown)
    found += [f"a role: {code[0]}" for code in INLINE_CODE.finditer(text) if code["role"]]
    text = INLINE_CODE.sub("", text)
    if re.search(r"\$\$[ \t]*\(", MATH.sub(lambda m: "$$" if m[1] else "", text)):
        found.append("a label after $$…$$: use \\tag{…} inside")
    for math in MATH.finditer(text):
        for command in re.findall(r"\\(?:label|eqref|ref)\b", math[0]):
            found.append(f"{command} in mathematics: use \\tag{{…}} and words")
        if math[2] is not None and "\n\n" in math[2]:
            found.append(f"an unpaired $ before: {math[2][:30]!r}")
    text = MATH.sub("", text)
    found += [what for pattern, what in FORBIDDEN if re.search(pattern, text, re.MULTILINE)]
    return found + fold_faults(markdown)


def fold_faults(markdown: str) -> list[str]:
    """Folds whose Markdown would not be rendered, or that are not closed."""
    found = []
    if markdown.count("<details") != markdown.count("</details>"):
        found.append("a <details> that is not closed in its cell")
    if markdown.count("<details") != markdown.count("</summary>"):
        found.append("a <details> without its <summary>")
    for match in re.finditer(r"</summary>(.*\n?.*)", markdown):
        if not re.match(r"\s*\n[ \t]*(\n|$)", match[1] + "\n"):
            found.append("no blank line after </summary>")
    for match in re.finditer(r"(.*)\n(.*)</details>", markdown):
        if match[1].strip() or match[2].strip():
            found.append("no blank line before </details>")
    return found

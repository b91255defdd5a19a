// The editor of a cell: CodeMirror with Python's colours from the page's own style sheet.
import { defaultKeymap, history, historyKeymap, indentLess, indentMore } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState, Prec } from "@codemirror/state";
import { drawSelection, EditorView, keymap } from "@codemirror/view";
import { tagHighlighter, tags } from "@lezer/highlight";

// the classes that Pygments gives, so that a cell looks the same before and after
const colours = tagHighlighter([
  { tag: [tags.keyword, tags.controlKeyword, tags.definitionKeyword, tags.moduleKeyword], class: "k" },
  { tag: [tags.operatorKeyword], class: "ow" },
  { tag: [tags.bool, tags.null, tags.self], class: "kc" },
  { tag: [tags.number], class: "mi" },
  { tag: [tags.string, tags.special(tags.string)], class: "s2" },
  { tag: [tags.comment], class: "c1" },
  { tag: [tags.function(tags.definition(tags.variableName))], class: "nf" },
  { tag: [tags.definition(tags.className)], class: "nc" },
  { tag: [tags.operator], class: "o" },
]);

// Tab leaves the editor, as it leaves every other field, unless there is something to indent: then Escape before it does
const indenting = [
  { key: "Tab", run: (view) => !view.state.selection.main.empty && indentMore(view) },
  { key: "Shift-Tab", run: (view) => !view.state.selection.main.empty && indentLess(view) },
];

/** An editor in `parent`; Ctrl-Enter calls `run`, Shift-Enter `runAndGoOn`, and `changed` is called when the text changes. */
window.posencEditor = ({ parent, text, label, run, runAndGoOn, changed }) => {
  const key = (name, does) => ({ key: name, run: () => (does(), true) });
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        Prec.highest(keymap.of([key("Shift-Enter", runAndGoOn), key("Ctrl-Enter", run), key("Mod-Enter", run)])),
        keymap.of([...indenting, ...defaultKeymap, ...historyKeymap]),
        history(),
        drawSelection(),
        ...(matchMedia("(max-width: 599px)").matches ? [EditorView.lineWrapping] : []), // a phone has no room for a line
        indentOnInput(),
        indentUnit.of("    "),
        bracketMatching(),
        python(),
        syntaxHighlighting(colours),
        EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0", autocapitalize: "off", autocorrect: "off", spellcheck: "false" }),
        EditorView.updateListener.of((update) => update.docChanged && changed()),
      ],
    }),
  });
  return {
    get text() {
      return view.state.doc.toString();
    },
    set text(value) {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: value } });
    },
    focus() {
      view.focus();
      view.dom.scrollIntoView({ block: "nearest" });
    },
  };
};

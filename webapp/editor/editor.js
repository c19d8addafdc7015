// The editor of a playbook's file. It takes the place of the form's text area,
// which stays what is sent; without scripts the text area is all there is.
//
// It lives in a shadow root: there CodeMirror's styles are constructed sheets,
// which the content policy allows, and not <style> elements, which it forbids.
import { indentUnit, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { yaml } from "@codemirror/lang-yaml";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { Compartment, EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { basicSetup } from "codemirror";

const colours = HighlightStyle.define([
  { tag: tags.comment, color: "var(--muted)", fontStyle: "italic" },
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--accent)" },
  { tag: [tags.string, tags.special(tags.string), tags.attributeValue], color: "var(--good)" },
  { tag: [tags.keyword, tags.bool, tags.null, tags.typeName, tags.labelName], color: "var(--busy)" },
  { tag: [tags.separator, tags.punctuation, tags.squareBracket, tags.brace, tags.meta], color: "var(--wait)" },
]);

const look = (dark) => EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "var(--panel)", border: "1px solid var(--line-strong)", borderRadius: "6px", fontSize: "13px", maxHeight: "72vh" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5", minHeight: "320px", overflow: "auto" },
  ".cm-content": { caretColor: "var(--text)", padding: "8px 0" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--sunk)", color: "var(--muted)", borderRight: "1px solid var(--line)", borderRadius: "6px 0 0 6px" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in oklab, var(--accent) 8%, transparent)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "color-mix(in oklab, var(--accent) 28%, transparent)" },
  ".cm-selectionMatch, .cm-searchMatch": { backgroundColor: "var(--wait-soft)" },
  ".cm-tooltip, .cm-panels": { backgroundColor: "var(--panel)", color: "var(--text)", borderColor: "var(--line-strong)" },
  ".cm-panel button, .cm-textfield": { backgroundColor: "var(--sunk)", backgroundImage: "none", color: "var(--text)", borderColor: "var(--line-strong)" },
  ".cm-foldPlaceholder": { backgroundColor: "var(--idle-soft)", color: "var(--muted)", border: "0" },
  // Its own marks are images in data: addresses, which the content policy forbids.
  ".cm-lint-marker": { content: '""', width: "11px", height: "11px", margin: "3px 1px" },
  ".cm-lint-marker-error": { content: '""', backgroundColor: "var(--bad)", borderRadius: "2px" },
  ".cm-lint-marker-warning": { content: '""', backgroundColor: "var(--wait)", borderRadius: "50%" },
  ".cm-lint-marker-info": { content: '""', border: "2px solid var(--idle)", borderRadius: "50%" },
  ".cm-lintRange": { backgroundImage: "none", textDecorationLine: "underline", textDecorationStyle: "wavy", textUnderlineOffset: "3px" },
  ".cm-lintRange-error": { backgroundImage: "none", textDecorationColor: "var(--bad)" },
  ".cm-lintRange-warning": { backgroundImage: "none", textDecorationColor: "var(--wait)" },
  ".cm-lintRange-info": { backgroundImage: "none", textDecorationColor: "var(--idle)" },
  ".cm-lintRange-active": { backgroundColor: "var(--wait-soft)" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--wait)" },
  ".cm-diagnosticSource": { opacity: 1, color: "var(--muted)", fontFamily: "var(--mono)" },
}, { dark });

const severities = { error: "error", warning: "warning" };

// The findings stand in the page as the API gave them; here each is drawn at its line.
function diagnostics(doc, findings) {
  return findings.filter((f) => f.line > 0).map((f) => {
    const line = doc.line(Math.min(f.line, doc.lines));
    return { from: line.from, to: line.to, severity: severities[f.severity] ?? "info", source: f.rule, message: f.message };
  });
}

function edit(area) {
  const form = area.form;
  const path = form.elements.namedItem("path");
  const theme = document.documentElement.dataset.theme;
  const dark = theme === "dark" || (!theme && matchMedia("(prefers-color-scheme: dark)").matches);
  const language = new Compartment();
  const speaks = () => (/\.ya?ml$/.test(path.value) ? yaml() : []);
  const label = document.querySelector(`label[for="${area.id}"]`);

  const host = document.createElement("div");
  host.className = "editor";
  const root = host.attachShadow({ mode: "open" });
  area.before(host);

  const view = new EditorView({
    parent: root,
    root,
    state: EditorState.create({
      doc: area.value,
      extensions: [
        basicSetup, language.of(speaks()), indentUnit.of("  "), EditorState.tabSize.of(2), syntaxHighlighting(colours), look(dark), lintGutter(),
        EditorView.contentAttributes.of({ "aria-label": label.textContent.trim() }),
        // The page asks before typed text is lost, and keeps it over a login; keys inside the shadow root change no field that it sees.
        EditorView.updateListener.of((u) => { if (u.docChanged) { area.value = u.state.doc.toString(); area.dispatchEvent(new Event("input", { bubbles: true })); } }),
      ],
    }),
  });
  const findings = JSON.parse(area.dataset.findings);
  view.dispatch(setDiagnostics(view.state, diagnostics(view.state.doc, findings)));

  // A field that can't be seen must not be the one that the browser complains of.
  area.hidden = true;
  area.required = false;
  const keep = () => { area.value = view.state.doc.toString(); };
  form.addEventListener("submit", keep, { capture: true });
  addEventListener("pagehide", keep);
  label.addEventListener("click", () => view.focus());
  path.addEventListener("input", () => view.dispatch({ effects: language.reconfigure(speaks()) }));

  const goTo = (number) => {
    const line = view.state.doc.line(Math.min(number, view.state.doc.lines));
    view.dispatch({ selection: { anchor: line.from }, effects: EditorView.scrollIntoView(line.from, { y: "center" }) });
    view.focus();
  };
  document.addEventListener("click", (e) => {
    const to = e.target.closest?.("[data-line]");
    if (!to) return;
    e.preventDefault();
    goTo(Number(to.dataset.line));
  });

  // A file that was refused opens at the line of its first error.
  const refused = findings.filter((f) => f.severity === "error" && f.line > 0).map((f) => f.line);
  if (refused.length) goTo(Math.min(...refused));
}

for (const area of document.querySelectorAll("textarea[data-findings]")) edit(area);

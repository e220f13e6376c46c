import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { json } from '@codemirror/lang-json'
import { yaml } from '@codemirror/lang-yaml'
import { bracketMatching, indentOnInput } from '@codemirror/language'
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint'
import { searchKeymap } from '@codemirror/search'
import { EditorState, type Text } from '@codemirror/state'
import { EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from '@codemirror/view'
import { phrases } from '../../../language/phrases.ts'
import { editorTheme } from './theme.ts'

/** What is wrong in a text. Lines and columns count from 1; `place` is what is said of the place. */
export type Fault = { message: string, place: string, line?: number, column?: number }

/** An editor: `name` is that of its field. */
export type Field = { name: string, show: (faults: readonly Fault[]) => void }

const languages = { yaml, json }

/**
 * Puts an editor in the place of a text area, which stays the field of its form and has the same text at every moment. It stands in a
 * shadow root, where its styles are adopted: in the document they would be elements that the policy of the page refuses. The key Tab
 * leaves it.
 */
export function openField (area: HTMLTextAreaElement, changed: () => void): Field {
  const host = document.createElement('div')
  host.className = 'code'
  const root = host.attachShadow({ mode: 'open' })
  const { syntax } = area.dataset
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: area.value,
      extensions: [
        lineNumbers(),
        lintGutter(),
        history(),
        indentOnInput(),
        bracketMatching(),
        highlightActiveLine(),
        highlightActiveLineGutter(),
        keymap.of([...lintKeymap, ...searchKeymap, ...historyKeymap, ...defaultKeymap]),
        languages[syntax === 'json' ? 'json' : 'yaml'](),
        editorTheme,
        typing,
        EditorState.phrases.of(document.documentElement.lang === 'fr' ? phrases.fr : {}),
        EditorView.contentAttributes.of(namesOf(area)),
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (!docChanged) return
          area.value = state.doc.toString()
          changed()
        })
      ]
    })
  })
  area.before(host)
  area.hidden = true
  area.labels[0]?.addEventListener('click', () => view.focus())
  mark(view, faultsBeside(area))
  return {
    name: area.name,
    show (faults) {
      document.getElementById(`${area.id}-wrong`)?.remove()
      if (faults.length > 0) host.before(listOf(`${area.id}-wrong`, faults))
      mark(view, faults)
    }
  }
}

/**
 * Types over a selection. Chromium would do so in the document, give the text the style of what it replaces, and report that the policy of
 * the page refuses it.
 */
const typing = EditorView.domEventHandlers({
  beforeinput ({ inputType, data, isComposing }, view) {
    const { from, to } = selectedIn(view)
    if (inputType !== 'insertText' || data === null || isComposing || from === to) return false
    const insert = view.state.toText(data)
    const selection = { anchor: from + insert.length }
    view.dispatch({ changes: { from, to, insert }, selection, userEvent: 'input.type', scrollIntoView: true })
    return true
  }
})

/** What is selected in the document: the editor learns of it later, where something else than a person selects. */
function selectedIn (view: EditorView): { from: number, to: number } {
  const { root, state: { selection: { main } } } = view
  if (!(root instanceof ShadowRoot)) return main
  const range = composedRange(root)
  if (range === undefined || !view.contentDOM.contains(range.startContainer) || !view.contentDOM.contains(range.endContainer)) return main
  return { from: view.posAtDOM(range.startContainer, range.startOffset), to: view.posAtDOM(range.endContainer, range.endOffset) }
}

/** The selection within a shadow root; undefined in browsers that cannot tell it: what the editor knows itself counts there. */
function composedRange (root: ShadowRoot): StaticRange | undefined {
  const selection: Partial<Selection> | null = document.getSelection()
  try {
    return selection?.getComposedRanges?.({ shadowRoots: [root] })[0]
  } catch (error) {
    // Safari before 26 takes the roots themselves, and refuses an object that lists them.
    if (error instanceof TypeError) return undefined
    throw error
  }
}

/** What names and describes an editor: elements outside of a shadow root cannot be referred to from within. */
function namesOf (area: HTMLTextAreaElement): Record<string, string> {
  const ids = [...(area.getAttribute('aria-describedby') ?? '').split(' '), 'keys']
  const descriptions = ids.map((id) => document.getElementById(id)?.textContent ?? '')
  return { 'aria-label': area.labels[0]?.textContent ?? area.name, 'aria-description': descriptions.join(' ').trim(), 'tabindex': '0' }
}

/** The faults in the list above a text area. */
function faultsBeside (area: HTMLTextAreaElement): Fault[] {
  return [...area.parentElement?.querySelectorAll<HTMLElement>('.wrong [data-line]') ?? []].map(({ dataset, textContent }) => ({
    message: textContent,
    place: '',
    line: Number(dataset['line']),
    column: Number(dataset['column'])
  }))
}

/** The faults as the page lists them. */
function listOf (id: string, faults: readonly Fault[]): HTMLElement {
  const list = document.createElement('ul')
  list.className = 'wrong'
  list.id = id
  list.append(...faults.map(({ message, place, line }) => {
    const [item, sentence] = [document.createElement('li'), document.createElement('span')]
    if (line !== undefined) item.dataset['line'] = String(line)
    sentence.lang = 'en'
    sentence.textContent = message
    item.append(`${place} `, sentence)
    return item
  }))
  return list
}

function mark (view: EditorView, faults: readonly Fault[]): void {
  view.dispatch(setDiagnostics(view.state, faults.flatMap((fault) => diagnosticOf(view.state.doc, fault) ?? [])))
}

/** A fault is marked from its place to the end of its line, or the last character where it is at the end. */
function diagnosticOf (doc: Text, { message, line, column = 1 }: Fault): Diagnostic | undefined {
  if (line === undefined) return undefined
  const { from: first, to } = doc.line(Math.min(Math.max(line, 1), doc.lines))
  return { from: Math.min(first + column - 1, Math.max(first, to - 1)), to, severity: 'error', message }
}

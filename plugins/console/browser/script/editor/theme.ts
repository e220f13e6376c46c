import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'

/** The page's own colours: they pass into the shadow root, and know light from dark. */
const theme = EditorView.theme({
  '&': { height: '100%', color: 'var(--ink)', backgroundColor: 'var(--ground)', fontSize: '.875rem' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'ui-monospace, "Cascadia Mono", Menlo, monospace', lineHeight: '1.5' },
  '.cm-content': { caretColor: 'var(--ink)' },
  '.cm-gutters': { color: 'var(--soft)', backgroundColor: 'var(--sheet)', borderRight: '1px solid var(--line)' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'transparent' },
  '&.cm-focused .cm-activeLineGutter': { color: 'var(--ink)', backgroundColor: 'var(--calm-sheet)' },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': { backgroundColor: 'transparent', outline: '1px solid var(--edge)' },
  '.cm-searchMatch': { backgroundColor: 'var(--warn-sheet)', outline: '1px solid var(--warn)' },
  '.cm-searchMatch-selected': { backgroundColor: 'var(--warn-sheet)', outline: '2px solid var(--warn)' },
  '.cm-panels, .cm-tooltip': { color: 'var(--ink)', backgroundColor: 'var(--sheet)', borderColor: 'var(--line)' },
  '.cm-tooltip-lint, .cm-panel': { font: '.875rem/1.5 system-ui, sans-serif' },
  '.cm-diagnostic': { padding: '.25rem .75rem', borderLeftColor: 'var(--bad)' },
  '.cm-panel .cm-textfield, .cm-panel .cm-button': {
    color: 'var(--ink)',
    background: 'var(--ground)',
    border: '1px solid var(--edge)',
    borderRadius: '4px',
    font: 'inherit'
  },
  '.cm-panel label': { fontSize: 'inherit' },
  '.cm-panel.cm-search [name=close], .cm-panel.cm-panel-lint [name=close]': { color: 'var(--ink)', fontSize: '1.25rem' },
  '.cm-panel.cm-panel-lint ul [aria-selected]': { backgroundColor: 'var(--calm-sheet)', color: 'var(--ink)' }
})

/** As strong as text must be on both grounds (WCAG 2.2, 1.4.3). */
const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--link)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom, tags.keyword], color: 'var(--warn)' },
  { tag: [tags.comment, tags.meta], color: 'var(--soft)', fontStyle: 'italic' },
  { tag: [tags.punctuation, tags.separator, tags.bracket], color: 'var(--soft)' },
  { tag: tags.invalid, color: 'var(--bad)' }
])

/** How an editor looks. */
export const editorTheme = [theme, syntaxHighlighting(colours)]

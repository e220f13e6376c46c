import type { Template } from 'liquidjs'
import type { TextRun } from '../model/document.ts'
import { renderLimits } from '../model/limits.ts'
import { type CompileContext, recordRead, reportFault } from './compile-context.ts'
import { type CompiledExpression, compileExpression, fieldPathOf, liquidContext, parseMessage, readingOf, type VariablePath,
  variablePathsOf, withRenderErrors } from './expression.ts'
import { withFallbacksInside } from './fallback.ts'
import { markUsed } from './field-usage.ts'
import { engine, liquidText } from './liquid.ts'
import { escapeMarkup, hasMarkup, pageMark, parseMarkup } from './markup.ts'
import { planTemplates } from './plan.ts'
import { pointerOf, type Scope, spend } from './scope.ts'

/** Compiled prose, which becomes runs of text. */
export type CompiledProse = (scope: Scope) => TextRun[]

const output = /\{\{([^{}]*)\}\}/
const needsLiquid = /\{%|\{\{-|-\}\}/

/** Compiles text with `{{ expressions }}`, Liquid tags and inline markup. Markup in the data is never interpreted. */
export function compileProse (text: string, site: CompileContext): CompiledProse {
  const source = text.trimEnd()
  const languages = Object.entries(site.texts)
  if (languages.length === 0 || source.search(word) === -1) return compileText(source, site)
  const compiled = new Map(languages.map(([language, words]) => [language, compileText(withWords(source, words, site), site)]))
  return (scope) => compiled.get(scope.language)?.(scope) ?? []
}

/** A word of the template's texts, alone in its braces. */
const word = /\{\{\s*t\.([A-Za-z_]\w*)\s*\}\}/g

/** A word is prose too. Words are inserted before the text is compiled; unknown words are left, so that the compiler reports them. */
function withWords (source: string, words: Readonly<Record<string, string>>, site: CompileContext): string {
  const named = (name: string): string | undefined => Object.hasOwn(words, name) ? words[name] : undefined
  const size = [...source.matchAll(word)].reduce((sum, [, name = '']) => sum + (named(name)?.length ?? 0), source.length)
  if (size <= renderLimits.prose) return source.replace(word, (output, name: string) => named(name) ?? output)
  reportFault(site, `With its texts inserted, this has more than ${renderLimits.prose} characters.`)
  return ''
}

function compileText (source: string, site: CompileContext): CompiledProse {
  return needsLiquid.test(source) ? compileTags(source, site) : compileOutputs(source, site)
}

/** Prose as one text without styles, for titles and names. */
export function plainText (runs: readonly TextRun[]): string {
  return runs.map((run) => 'text' in run ? run.text : '').join('')
}

type Part = { text: string } | { field: 'page' | 'pages' } | { expression: CompiledExpression }

/** A text with only outputs needs no Liquid. This is the usual case, and much faster. */
function compileOutputs (source: string, site: CompileContext): CompiledProse {
  const parts = source.split(output).map((piece, index) => index % 2 === 0 ? { text: piece } : compileOutput(piece, site))
  if (parts.some((part) => 'text' in part && /\{\{|\}\}/.test(part.text))) {
    reportFault(site, 'An expression is not closed: expected {{ … }}.')
  }
  const marked = parts.some((part) => 'field' in part || ('text' in part && hasMarkup(part.text)))
  if (marked) return (scope) => parseMarkup(join(parts, scope, escapeMarkup))
  return (scope) => {
    const text = join(parts, scope, String)
    return text === '' ? [] : [{ text }]
  }
}

function compileOutput (text: string, site: CompileContext): Part {
  const name = text.trim()
  if (site.pageFields && (name === 'page' || name === 'pages')) return { field: name }
  return { expression: compileExpression(name, site, 'whole') }
}

function join (parts: readonly Part[], scope: Scope, escape: (text: string) => string): string {
  let text = ''
  for (const part of parts) {
    if ('text' in part) text += part.text
    else if ('field' in part) text += pageMark(part.field)
    else {
      const shown = liquidText(part.expression.value(scope), () => part.expression.pointer(scope))
      spend(scope, 'steps', shown.length)
      text += escape(shown)
    }
  }
  spend(scope, 'characters', text.length)
  return text
}

/** The variable of a loop, and the path of its list, if it is a path. */
const loopedOver = /\{%-?\s*for\s+(\w+)\s+in\s+([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)/g

function compileTags (source: string, site: CompileContext): CompiledProse {
  const templates = parseTags(source, site)
  const variables = templates === undefined
    ? []
    : variablePathsOf(source).filter(([name = '']) => !(site.pageFields && /^pages?$/.test(String(name))))
  const loops = new Map(Array.from(source.matchAll(loopedOver), ([, variable = '', list = '']) => [variable, list]))
  const lists = new Set(loops.values())
  for (const path of variables.map(fieldPathOf)) {
    // Liquid's own loop does not tell which fields of its items it shows: all fields count as read.
    if (lists.has(path.join('.'))) markUsed(site.uses, recordRead(site, path, 'list'), 'whole')
    else recordRead(site, path, 'whole')
  }
  // Liquid's own loop does not tell its current item: errors name the list.
  const pointer = (scope: Scope, variable: VariablePath = variables[0] ?? []): string =>
    pointerOf(scope, loops.get(String(variable[0]))?.split('.') ?? variable)
  const plan = planTemplates(templates ?? [])
  const render = (scope: Scope): string =>
    plan === undefined
      ? String(engine.renderSync(templates ?? [], liquidContext(scope, site, 'strict')))
      : plan(readingOf(scope, site, 'strict', pointer))
  return (scope) => {
    const text = withRenderErrors(scope, site, pointer, () => render(scope))
    spend(scope, 'characters', text.length)
    return parseMarkup(text)
  }
}

function parseTags (source: string, site: CompileContext): Template[] | undefined {
  try {
    const templates = engine.parse(source)
    withFallbacksInside(templates)
    return templates
  } catch (error) {
    reportFault(site, parseMessage(error, source))
    return undefined
  }
}

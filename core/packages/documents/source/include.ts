import { didYouMean, isRecord, pointer } from '@dispatch/common'
import type { Block } from '../model/blocks.ts'
import type { Fault } from '../model/errors.ts'
import type { IncludedPartial, TemplateSource } from '../model/model.ts'
import { type KeptPartials, layoutParts } from '../model/partial.ts'

/** A template with all that it includes. `faults`: what it includes and there is not, or includes itself. */
export type Included = { source: TemplateSource, faults: Fault[] }

/** Bounds of what one template includes. */
const limits = { partials: 50, characters: 400_000 }

/**
 * Puts into a template the layout that it names and the partials that it and they include, as they are now. A later change of them does not
 * change the template. What the template says itself goes before its layout.
 */
export function include (given: TemplateSource, kept: KeptPartials): Included {
  const faults: Fault[] = []
  const { source, first } = withLayout(given, kept, faults)
  const partials: Record<string, IncludedPartial> = { ...first }
  const desired = [...namesIn(source, ''), ...Object.entries(first).flatMap(([name, { blocks }]) => namesIn(blocks, partAt(name)))]
  for (const { name, path } of desired) {
    if (Object.hasOwn(partials, name)) continue
    const partial = Object.hasOwn(kept, name) ? kept[name] : undefined
    if (partial?.kind !== 'partial') {
      faults.push(unknown('partial', name, path, namesOf(kept, 'partial')))
      continue
    }
    partials[name] = { version: partial.version, blocks: partial.source.blocks }
    desired.push(...namesIn(partial.source.blocks, partAt(name)))
  }
  if (Object.keys(partials).length === 0) return { source, faults }
  const names = Object.keys(partials)
  if (names.length > limits.partials || JSON.stringify(partials).length > limits.characters) {
    const message = `A template may include ${limits.partials} partials with ${limits.characters} characters as JSON, all together.`
    faults.push({ path: '', code: 'too_large', message })
  }
  const sources = [...new Set(names.map((name) => name.split('/', 1)[0] ?? ''))].flatMap((name) => kept[name]?.source ?? [])
  return { source: { ...withOwn(source, sources), partials }, faults }
}

/** The template with what its layout says and it does not, and the parts of the layout as partials of it. */
function withLayout (
  { layout: name, ...source }: TemplateSource,
  kept: KeptPartials,
  faults: Fault[]
): { source: TemplateSource, first: Record<string, IncludedPartial> } {
  if (name === undefined) return { source, first: {} }
  const layout = Object.hasOwn(kept, name) ? kept[name] : undefined
  if (layout?.kind !== 'layout') {
    faults.push(unknown('layout', name, '/layout', namesOf(kept, 'layout')))
    return { source, first: {} }
  }
  const { version, source: { page, style, watermark, ...parts } } = layout
  const first = Object.fromEntries(
    layoutParts.flatMap((part) => parts[part] === undefined ? [] : [[`${name}/${part}`, { version, blocks: parts[part] }]])
  )
  const partOf = (part: typeof layoutParts[number]): Block[] => parts[part] === undefined ? [] : [{ partial: `${name}/${part}` }]
  return {
    first,
    source: {
      ...page !== undefined && { page },
      ...watermark !== undefined && { watermark },
      ...parts.header !== undefined && { header: partOf('header') },
      ...parts.firstHeader !== undefined && { firstHeader: partOf('firstHeader') },
      ...parts.footer !== undefined && { footer: partOf('footer') },
      ...source,
      ...style !== undefined && { style: { ...style, ...source.style } },
      body: [...partOf('before'), ...source.body, ...partOf('after')],
      layout: name
    }
  }
}

/** The template with the words and pictures of what it includes. Its own go before them. */
function withOwn (source: TemplateSource, included: readonly Pick<TemplateSource, 'texts' | 'assets'>[]): TemplateSource {
  const languages = Object.keys(source.texts ?? included.find(({ texts }) => texts !== undefined)?.texts ?? {})
  const texts = Object.fromEntries(languages.map((language) => [
    language,
    Object.assign({}, ...included.map((one) => one.texts?.[language]), source.texts?.[language]) as Record<string, string>
  ]))
  const assets = Object.assign({}, ...included.map((one) => one.assets), source.assets) as Record<string, string>
  return {
    ...source,
    ...languages.length > 0 && { texts },
    ...Object.keys(assets).length > 0 && { assets }
  }
}

/** The partials that blocks name, at any depth, with their places. */
function namesIn (value: unknown, path: string): { name: string, path: string }[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => namesIn(item, pointer(path, index)))
  if (!isRecord(value)) return []
  return Object.entries(value).flatMap(([key, part]) =>
    key === 'partial' && typeof part === 'string' ? [{ name: part, path: pointer(path, key) }] : namesIn(part, pointer(path, key))
  )
}

const partAt = (name: string): string => pointer('/partials', name)

function namesOf (kept: KeptPartials, kind: 'partial' | 'layout'): string[] {
  return Object.entries(kept).flatMap(([name, one]) => one.kind === kind ? [name] : [])
}

function unknown (kind: 'partial' | 'layout', name: string, path: string, known: readonly string[]): Fault {
  return {
    path,
    code: 'unknown_partial',
    message: `The company has no ${kind} "${name}"${didYouMean(name, known)}: add it with PUT /api/v1/partials/${name}.`
  }
}

/** A fault as the author of the template reads it. One in a partial is told where the template includes it. `includedAt`: where that is. */
export function placedInTemplate (fault: Fault, includedAt: ReadonlyMap<string, string>): Fault {
  const inside = /^\/partials\/([^/]*)(.*)$/.exec(fault.path)
  if (inside === null) return fault
  const name = (inside[1] ?? '').replaceAll('~1', '/')
  const [whole = '', part] = name.split('/')
  const where = `${part === undefined ? '' : `/${part}`}${inside[2] ?? ''}`
  return {
    ...fault,
    path: part === undefined ? placedInTemplate({ ...fault, path: includedAt.get(name) ?? '' }, includedAt).path : '/layout',
    message: `In the ${part === undefined ? 'partial' : 'layout'} "${whole}", at ${where === '' ? '/' : where}: ${fault.message}`
  }
}

import { inspectJson, isRecord, pointer, type Problem } from '@dispatch/common'
import { Check } from 'typebox/value'
import { examineTemplate } from '../compile/compile.ts'
import type { Block } from '../model/blocks.ts'
import type { Fault } from '../model/errors.ts'
import { renderLimits } from '../model/limits.ts'
import type { TemplateSource } from '../model/model.ts'
import { type KeptPartial, type KeptPartials, layoutParts, type LayoutSource, type PartialKind, partialModels,
  type PartialSource } from '../model/partial.ts'
import { explain } from './explain.ts'
import { include, placedInTemplate } from './include.ts'
import { assetFaults, problemOf, readText, standIns } from './inspect.ts'

/** The input of an author for a partial. `partials`: those that the company has; `assets`: the SHA-256 of each of its pictures. */
export type PartialDraft = {
  name: string
  kind: PartialKind
  yaml: string
  partials: KeptPartials
  assets: Readonly<Record<string, string>>
}

/** A partial that compiles, or all its problems, with their lines. Whether its paths are in the data is told by the templates. */
export type PartialInspection = { ok: true, source: PartialSource | LayoutSource } | { ok: false, problems: Problem[] }

/** Reads and checks a partial: the YAML, its model, its expressions, and what it includes. */
export function inspectPartial (draft: PartialDraft): PartialInspection {
  const { value, place, faults } = readText(draft.yaml)
  if (faults.length > 0) return { ok: false, problems: faults.map(problemOf) }
  const unusable = inspectJson(value, '', renderLimits.yamlDepth)
  if (unusable.length > 0) return { ok: false, problems: unusable.map((fault) => problemOf(place(fault))) }
  const model = partialModels[draft.kind]
  if (!Check(model, value)) return { ok: false, problems: explain(model, value).map((fault) => problemOf(place(fault))) }
  const source = value
  const wrong = faultsOf(draft, source)
  return wrong.length === 0 ? { ok: true, source } : { ok: false, problems: wrong.map((fault) => problemOf(place(fault))) }
}

function faultsOf (draft: PartialDraft, source: PartialSource | LayoutSource): Fault[] {
  const itself = { version: 1, kind: draft.kind, source } as KeptPartial
  const whole = pageOf(source)
  const included = include(whole.template, { ...draft.partials, [draft.name]: itself })
  if (included.faults.length > 0) return included.faults.map((fault) => ({ ...fault, path: whole.back(fault.path) }))
  const { assets } = included.source
  const compiled = examineTemplate({ ...included.source, ...assets !== undefined && { assets: standIns(assets) } })
  return [...compiled.faults, ...assetFaults(source, draft)]
    .map((fault) => placedInTemplate(fault, compiled.includedAt))
    .map((fault) => ({ ...fault, path: whole.back(fault.path) }))
}

/** A template that shows all blocks of a partial, and the places of the partial for its own. */
function pageOf (source: PartialSource | LayoutSource): { template: TemplateSource, back: (path: string) => string } {
  const parts = isRecord(source) && 'blocks' in source ? ['blocks'] as const : layoutParts
  const starts: { part: string, first: number }[] = []
  const body: Block[] = []
  for (const part of parts) {
    starts.push({ part, first: body.length })
    body.push(...(source as Readonly<Record<string, Block[] | undefined>>)[part] ?? [])
  }
  const { texts, assets } = source
  const [locale = 'en'] = Object.keys(texts ?? {})
  return {
    template: {
      name: 'partial',
      service: 'file',
      locale,
      ...texts !== undefined && { texts },
      ...assets !== undefined && { assets },
      brand: true,
      body
    },
    back (path) {
      const [, index = '', rest = ''] = /^\/body\/(\d+)(.*)$/.exec(path) ?? []
      const start = starts.findLast(({ first }) => index !== '' && first <= Number(index))
      return start === undefined ? path : pointer(pointer('', start.part), Number(index) - start.first) + rest
    }
  }
}

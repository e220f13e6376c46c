import t from 'tap'
import { has } from '../../../../test/support/matching.ts'
import { compileTemplate, examineTemplate } from '../compile/compile.ts'
import { renderPdf, type TemplateSource } from '../index.ts'
import type { Block } from '../model/blocks.ts'
import { RenderError } from '../model/errors.ts'
import type { KeptPartials } from '../model/partial.ts'
import { include, placedInTemplate } from '../source/include.ts'

const now = new Date('2026-03-14T09:00:00Z')
const blocks = (...list: Block[]): KeptPartials[string] => ({ version: 1, kind: 'partial', source: { blocks: list } })
const kept: KeptPartials = {
  line: blocks({ paragraph: '{{ item.name }}' }),
  terms: blocks({ rule: {} }, { each: 'items', as: 'item', do: [{ partial: 'line' }] }),
  letterhead: { version: 2, kind: 'layout', source: { footer: [{ paragraph: '{{ page }}' }], before: [{ heading: 'Northwind' }] } }
}
const template = (...body: Block[]): TemplateSource => ({ name: 'Letter', service: 'file', locale: 'en', body })
const data = { items: [{ name: 'Tea' }, { name: 'Milk' }] }
const bytes = async (source: TemplateSource): Promise<Buffer> => Buffer.from((await renderPdf(source, data, { now })).bytes)

/** What is wrong with a document of these data. */
function problemsOf (source: TemplateSource, given: object): RenderError['problems'] {
  try {
    compileTemplate(source).resolve(given)
  } catch (error) {
    if (error instanceof RenderError) return error.problems
    throw error
  }
  return []
}

await t.test('what is included makes the same bytes as what is written in its place', async (t) => {
  const { source, faults } = include({ ...template({ paragraph: 'Dear Ada' }, { partial: 'terms' }), layout: 'letterhead' }, kept)
  t.same(faults, [])
  const written = {
    ...template({ heading: 'Northwind' }, { paragraph: 'Dear Ada' }, { rule: {} }, {
      each: 'items',
      as: 'item',
      do: [{ paragraph: '{{ item.name }}' }]
    }),
    footer: [{ paragraph: '{{ page }}' }]
  }
  t.ok((await bytes(source)).equals(await bytes(written)))
  t.same(Object.keys(source.partials ?? {}).sort(), ['letterhead/before', 'letterhead/footer', 'line', 'terms'])
})

await t.test('a later change of what is included does not change the template', async (t) => {
  const { source } = include(template({ partial: 'line' }), { line: blocks({ paragraph: 'Before' }) })
  const before = await bytes(source)
  include(template({ partial: 'line' }), { line: blocks({ paragraph: 'After' }) })
  t.ok((await bytes(source)).equals(before))
})

await t.test('faults have the places of the template, however deep they are', (t) => {
  const faulty = { ...kept, line: blocks({ paragraph: '{{ item.name | shout }}' }) }
  const { source } = include({ ...template({ paragraph: 'Dear Ada' }, { partial: 'terms' }), layout: 'letterhead' }, faulty)
  const { faults, includedAt } = examineTemplate(source)
  has(t, faults.map((fault) => placedInTemplate(fault, includedAt)), [{
    path: '/body/1/partial',
    message: /^In the partial "line", at \/0\/paragraph: Unknown filter "shout"/
  }])
  const lacking = include({ ...template({ rule: {} }, { paragraph: '{{ missing }}' }, { partial: 'line' }), layout: 'letterhead' }, kept)
  for (const [given, at] of [[data, '/body/1/paragraph'], [{ missing: 'x' }, '/partials/line/0/paragraph']] as const) {
    has(t, problemsOf(lacking.source, given), [{ message: new RegExp(`\\(at ${at}\\)`) }], 'and so when made')
  }
  has(t, include(template({ group: [{ partial: 'termz' }] }), kept).faults, [{
    path: '/body/0/group/0/partial',
    code: 'unknown_partial',
    message: /did you mean "terms"/
  }])
  has(t, include({ ...template({ rule: {} }), layout: 'terms' }, kept).faults, [{ path: '/layout', code: 'unknown_partial' }])
  t.end()
})

import { readFile } from 'node:fs/promises'
import t from 'tap'
import { parse } from 'yaml'
import { isRecord } from '../../core/packages/common/records.ts'
import { compileTemplate } from '../../core/packages/documents/compile/compile.ts'
import { readSource } from '../../core/packages/documents/source/source.ts'
import { made, wordsOf } from '../../core/packages/documents/test/support.ts'
import { templateServices } from '../../core/packages/services/lists.ts'
import { contains } from '../support/matching.ts'

const readme = await readFile(new URL('../../templates/README.md', import.meta.url), 'utf8')
const examples = [...readme.matchAll(/```yaml(?<whole> template)?\n(?<text>[\s\S]*?)```/g)].map(({ groups }) => ({
  text: groups?.['text'] ?? '',
  whole: groups?.['whole'] !== undefined
}))
const data: unknown = JSON.parse(/```json\n([\s\S]*?)```/.exec(readme)?.[1] ?? '')

void t.test('the guide has examples', (t) => {
  t.ok(examples.length >= 4)
  t.end()
})

for (const [index, { text, whole }] of examples.entries()) {
  void t.test(`example ${String(index + 1)} of the guide becomes a document`, async (t) => {
    const yaml = whole ? text : `name: Example\nservice: file\nlocale: en-GB\nbody:\n${text.replaceAll(/^/gm, '  ')}`
    const { source } = readSource(yaml, 'README.md', templateServices)
    const template = compileTemplate(source)
    t.ok((await made('pdf', template, data)).pages > 0)
    contains(t, (await made('html', template, data)).html, /^<!doctype html>/)
    t.type((await made('text', template, data)).text, 'string')
  })
}

void t.test('the guide shows every block', (t) => {
  const blocks = ['heading', 'paragraph', 'columns', 'keyValues', 'table', 'image', 'code', 'group', 'address', 'button', 'signature',
    'spacer', 'pageBreak', 'rule', 'if', 'each']
  const used = examples.flatMap(({ text, whole }) => {
    const value: unknown = parse(text)
    const list: unknown = whole && isRecord(value) ? value['body'] : value
    return Array.isArray(list) ? list.flatMap((block) => isRecord(block) ? Object.keys(block) : []) : []
  })
  for (const block of blocks) t.ok(used.includes(block), block)
  t.end()
})

void t.test('the table of filters says what they do', async (t) => {
  const body = ['{{ a | money }}', '{{ a | money: "USD" }}', '{{ a | number }}', '{{ a | number: 0 }}', '{{ a | percent }}',
    '{{ d | date }}', '{{ d | date: "long" }}']
  const { source } = readSource(
    `name: Filters\nservice: file\nlocale: en-GB\nbody:\n${body.map((text) => `  - paragraph: '${text}'\n`).join('')}`,
    'filters',
    templateServices
  )
  const words = await wordsOf(await made('pdf', compileTemplate(source), { a: 1234.5, d: '2026-03-14' }))
  for (const shown of ['€1,234.50', 'US$1,234.50', '1,234.5', '1,235', '1,234.5%', '14 Mar 2026', '14 March 2026']) {
    t.ok(words.includes(shown), shown)
    t.ok(readme.includes(shown), `${shown} stands in the guide`)
  }
})

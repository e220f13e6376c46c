import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { contains, has } from '../../../../test/support/matching.ts'
import { TemplateError } from '../model/errors.ts'
import { readTemplateFolder as readFolder } from '../source/folder.ts'

const readTemplateFolder = (path: string) => readFolder(path, ['sms', 'email', 'file', 'postal', 'invoicing'])

const yaml = 'id: 7\nname: Letter\nservice: postal\nlocale: en\nbody:\n  - paragraph: Dear {{ name }}\n'
const schema = {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string' }, lines: { type: 'array', items: { $ref: '#/$defs/line' } } },
  $defs: { line: { type: 'object', properties: { description: { type: 'string' } } } }
}
const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGOQ9esEAAGAAPXyUV94AAAAAElFTkSuQmCC', 'base64')

type Files = { yaml?: string, schema?: unknown, sample?: unknown, 'logo.png'?: Buffer }

async function folder (t: Test, files: Files = {}): Promise<string> {
  const path = join(t.testdir({}), 'template')
  await mkdir(path, { recursive: true })
  await writeFile(join(path, 'template.yaml'), files.yaml ?? yaml)
  await writeFile(join(path, 'schema.json'), typeof files.schema === 'string' ? files.schema : JSON.stringify(files.schema ?? schema))
  await writeFile(join(path, 'sample.json'), JSON.stringify(files.sample ?? { name: 'Ada' }))
  if (files['logo.png'] !== undefined) await writeFile(join(path, 'logo.png'), files['logo.png'])
  return path
}

void t.test('a folder is read whole', async (t) => {
  const template = await readTemplateFolder(await folder(t))
  has(t, template, {
    id: 7,
    name: 'Letter',
    service: 'postal',
    locale: 'en',
    yaml,
    schema,
    sample: { name: 'Ada' },
    source: { body: [{ paragraph: 'Dear {{ name }}' }] }
  })
  contains(t, template.digest, /^[0-9a-f]{64}$/)
  t.notOk('documentType' in template)
})

void t.test('the digest follows the content, not the layout', async (t) => {
  const { digest } = await readTemplateFolder(await folder(t))
  t.equal(
    (await readTemplateFolder(await folder(t, { yaml: `# comment\n${yaml.replace('id: 7\nname: Letter', 'name: "Letter"\nid: 7')}` })))
      .digest,
    digest
  )
  t.not((await readTemplateFolder(await folder(t, { yaml: yaml.replace('Dear', 'Hello') }))).digest, digest)
  t.not((await readTemplateFolder(await folder(t, { sample: { name: 'Bob' } }))).digest, digest)
})

void t.test('assets become part of the template', async (t) => {
  const { source } = await readTemplateFolder(
    await folder(t, { yaml: `${yaml}  - image: { asset: logo }\nassets: { logo: logo.png }\n`, 'logo.png': png })
  )
  t.same(source.assets, { logo: `data:image/png;base64,${png.toString('base64')}` })
})

const faults: [rule: string, files: Files, line: number | undefined, column: number | undefined, message: RegExp][] = [
  ['text that is no YAML', { yaml: 'id: 7\nname: [' }, 2, undefined, /template.yaml:2:/],
  ['two equal keys', { yaml: `${yaml}locale: fr\n` }, 7, 1, /"locale" is there twice/],
  ['more aliases than a person writes', { yaml: `${yaml}title: &a x\nauthor:\n${'  - *a\n'.repeat(101)}` }, 109, 5,
    /More than 100 aliases/],
  [
    'an unknown field',
    { yaml: yaml.replace('locale: en', 'locale: en\ncurency: EUR') },
    5,
    1,
    /Unknown field "curency" \(did you mean "currency"\?\)/
  ],
  [
    'an unknown block',
    { yaml: yaml.replace('- paragraph', '- paragaph') },
    6,
    5,
    /Unknown block "paragaph" \(did you mean "paragraph"\?\); expected one of heading, paragraph/
  ],
  [
    'an unknown field of a block',
    { yaml: `${yaml}  - table: { each: lines, as: line, colums: [] }\n` },
    7,
    5,
    /"columns" is missing.*\n.*:7:37 Unknown field "colums" \(did you mean "columns"\?\)/
  ],
  ['a missing field of a block', { yaml: `${yaml}  - table: { each: lines, as: line }\n` }, 7, 5, /"columns" is missing/],
  ['a missing field', { yaml: yaml.replace('locale: en\n', '') }, 1, 1, /"locale" is missing/],
  ['a wrong type inside blocks', { yaml: `${yaml}  - columns: { items: [{ do: [{ spacer: wide }] }] }\n` }, 7, 33, /Expected number, got/],
  ['a wrong word', { yaml: yaml.replace('postal', 'postl') }, 3, 1, /did you mean "postal"/],
  ['too many levels', { yaml: `${yaml}  - ${'{ if: name, then: [ '.repeat(20)}${'] }'.repeat(20)}\n` }, 7, undefined, /levels deep/],
  [
    'an unknown path',
    { yaml: `${yaml}  - table: { each: lines, as: line, columns: [{ header: a, value: line.descriptoin }] }\n` },
    7,
    60,
    /no "lines.descriptoin" \(did you mean "description"\?\)/
  ],
  ['an unknown path in text', { yaml: yaml.replace('{{ name }}', '{{ nmae }}') }, 6, 5, /no "nmae" \(did you mean "name"\?\)/],
  ['a loop over what is no list', { yaml: `${yaml}  - { each: name, as: x, do: [] }\n` }, 7, 7, /"name" is not a list/],
  [
    'a loop of text over what is no list',
    { yaml: yaml.replace('{{ name }}', '{% for x in name %}{{ x }}{% endfor %}') },
    6,
    5,
    /"name" is not a list/
  ],
  ['a block of two kinds', { yaml: `${yaml}    heading: b\n` }, 7, 5, /has "paragraph" and "heading": begin each block with its own dash/],
  ['two documents', { yaml: `${yaml}---\nid: 8\n` }, 7, 1, /Expected one document/],
  ['a template without number', { yaml: yaml.replace('id: 7\n', '') }, undefined, undefined, /needs an "id"/],
  ['an asset outside of the folder', { yaml: `${yaml}assets: { logo: ../logo.png }\n` }, 7, 11, /in the template's folder/],
  ['an asset that is not there', { yaml: `${yaml}assets: { logo: logo.png }\n` }, 7, 11, /cannot be read/],
  ['a schema that is no JSON', { schema: '{' }, undefined, undefined, /schema.json/],
  ['a schema that does not compile', { schema: { type: 'objekt' } }, undefined, undefined, /schema.json/],
  ['a sample that does not fit', { sample: { name: 5 } }, undefined, undefined, /sample.json \/name Expected string, got/]
]

for (const [rule, files, line, column, message] of faults) {
  void t.test(`${rule} is refused with its place`, async (t) => {
    const error = await readTemplateFolder(await folder(t, files)).then(() => undefined, (error: unknown) => error)
    t.type(error, TemplateError)
    if (!(error instanceof TemplateError)) return
    contains(t, error.message, message)
    if (line !== undefined) t.equal(error.faults[0]?.line, line)
    if (column !== undefined) t.equal(error.faults[0]?.column, column)
  })
}

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { checkWalls, openers } from '../../scripts/check-walls.ts'

/** Writes files given by path as a tree; the result is its folder. */
function written (t: Test, files: Record<string, string>): string {
  const folders: Record<string, Record<string, string>> = {}
  for (const [path, text] of Object.entries(files)) {
    const cut = path.lastIndexOf('/')
    folders[path.slice(0, cut)] = { ...folders[path.slice(0, cut)], [path.slice(cut + 1)]: text }
  }
  return t.testdir(Object.entries(folders).reduce((tree, [folder, content]) => place(tree, folder.split('/'), content), {}))
}

const check = (t: Test, files: Record<string, string>) => checkWalls(written(t, files))

type Tree = { [name: string]: Tree | string }

function place (tree: Tree, [name = '', ...rest]: string[], content: Record<string, string>): Tree {
  const below = typeof tree[name] === 'object' ? tree[name] : {}
  return { ...tree, [name]: rest.length === 0 ? { ...below, ...content } : place(below, rest, content) }
}

const kept = {
  'core/package.json': '{ "exports": { ".": "./index.ts", "./provider": "./provider.ts" } }',
  'core/index.ts': 'export * from \'./store/database.ts\'',
  'core/provider.ts': 'export const defineProvider = 1',
  'core/store/db/database.ts': 'import pg from \'pg\'\nimport { Kysely } from \'kysely\'\nimport { migrator } from \'kysely/migration\'',
  'core/packages/documents/render/pdf.ts': 'import PDFDocument from \'pdfkit\'',
  'core/packages/documents/package.json': '{ "name": "@dispatch/documents", "exports": { ".": "./index.ts" } }',
  'core/packages/documents/index.ts': 'export { render } from \'./render/pdf.ts\'',
  'core/packages/documents/threads/pool.ts': 'import Piscina from \'piscina\'',
  'core/packages/documents/test/pdf.test.ts': 'import \'../../../access/tokens.ts\'',
  'core/access/tokens.ts': 'export const tokens = 1',
  'core/packages/vendor-io/http/jwt.ts': 'import { jwtVerify } from \'jose\'',
  'core/packages/vendor-io/http/transport.ts': 'import { request } from \'undici\'',
  'core/packages/vendor-io/smtp/mailer.ts': 'import { createTransport } from \'nodemailer\'',
  'plugins/app.ts':
    'import fastify from \'fastify\'\nimport swagger from \'@fastify/swagger\'\nimport { x } from \'@dispatch/core\'\nimport ' +
    '\'./container.ts\'',
  'plugins/container.ts': 'import \'reflect-metadata\'\nimport { container } from \'tsyringe\'',
  'providers/acme/index.ts':
    'import { createHash } from \'node:crypto\'\nimport { defineProvider } from \'@dispatch/core/provider\'\nimport \'./words.ts\'',
  'providers/acme/words.ts': 'export const words = {}',
  'scripts/serve.ts': 'import { app } from \'../plugins/app.ts\'',
  'scripts/bench/pdf.ts': 'import PDFDocument from \'pdfkit\''
}

void t.test('a tree that keeps the walls passes', t => {
  t.same(check(t, kept), { files: 15, faults: [] })
  t.end()
})

void t.test('the program says how many files keep the walls, or each breach, and then fails', t => {
  const script = fileURLToPath(new URL('../../scripts/check-walls.ts', import.meta.url))
  const run = (files: Record<string, string>) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, written(t, files)], { encoding: 'utf8' })
    return { status, stdout, stderr }
  }
  t.same(run(kept), { status: 0, stdout: '15 files keep the walls\n', stderr: '' })
  const { faults } = check(t, { 'core/a.ts': 'import \'pg\'\nimport \'../plugins/app.ts\'' })
  t.equal(faults.length, 2)
  t.same(run({ 'core/a.ts': 'import \'pg\'\nimport \'../plugins/app.ts\'' }), {
    status: 1,
    stdout: '',
    stderr: `${faults.join('\n')}\n`
  })
  t.end()
})

const breaches: [rule: string, file: string, text: string, expected: string][] = [
  [
    'core does not import plugins',
    'core/a.ts',
    'import \'../plugins/app.ts\'',
    'core/a.ts:1 imports ../plugins/app.ts: core knows neither plugins nor providers, nor the kit'
  ],
  [
    'core does not import providers, not even their types',
    'core/a.ts',
    '\nimport type { X } from \'../providers/acme/index.ts\'',
    'core/a.ts:2 imports ../providers/acme/index.ts: core knows neither plugins nor providers, nor the kit'
  ],
  [
    'core does not import itself by name',
    'core/a.ts',
    'import \'@dispatch/core\'',
    'core/a.ts:1 imports @dispatch/core: core knows neither plugins nor providers, nor the kit'
  ],
  [
    'core does not reach into packages',
    'core/a.ts',
    'import \'./packages/documents/render/pdf.ts\'',
    'core/a.ts:1 imports ./packages/documents/render/pdf.ts: packages are reached by their names'
  ],
  [
    'packages do not reach into each other',
    'core/packages/other/a.ts',
    'import \'../documents/render/pdf.ts\'',
    'core/packages/other/a.ts:1 imports ../documents/render/pdf.ts: packages know other packages by their names alone'
  ],
  [
    'a feature knows the core by its name alone',
    'core/packages/features/notes/service/a.ts',
    'import \'@dispatch/core\'\nimport \'@dispatch/plugins/feature\'\nimport \'../store/b.ts\'\nimport \'../../../../access/tokens.ts\'',
    'core/packages/features/notes/service/a.ts:4 imports ../../../../access/tokens.ts: ' +
    'features know the core, the toolkits of the plugins and packages by their names, of the kit what an installation runs'
  ],
  [
    'pages of a feature do not reach its service',
    'core/packages/features/notes/pages/a.ts',
    'import \'../contract/c.ts\'\nimport \'../service/a.ts\'',
    'core/packages/features/notes/pages/a.ts:2 imports ../service/a.ts: pages of features reach data through the public API alone'
  ],
  [
    'a program names no feature, which may be gone',
    'scripts/a.ts',
    'import \'../plugins/features/find-features.ts\'\nimport \'../core/packages/features/notes/service/a.ts\'',
    'scripts/a.ts:2 imports ../core/packages/features/notes/service/a.ts: programs find features, and name none'
  ],
  [
    'nobody else reaches into a feature',
    'core/a.ts',
    'import \'./packages/features/notes/index.ts\'',
    'core/a.ts:1 imports ./packages/features/notes/index.ts: packages are reached by their names'
  ],
  [
    'packages do not know the core',
    'core/packages/other/a.ts',
    'import \'@dispatch/core\'',
    'core/packages/other/a.ts:1 imports @dispatch/core: packages know other packages by their names alone'
  ],
  [
    'the process of an adapter knows less',
    'core/packages/sandbox/inside/a.ts',
    'import \'@dispatch/host/process\'\nimport \'@dispatch/host\'',
    'core/packages/sandbox/inside/a.ts:2 imports @dispatch/host: ' +
    'the process of an adapter knows @dispatch/common, @dispatch/host/process and what providers import'
  ],
  [
    'plugins do not run the kit',
    'plugins/a.ts',
    'import \'@dispatch/conformance\'',
    'plugins/a.ts:1 imports @dispatch/conformance: plugins know the core and its packages alone'
  ],
  [
    'plugins do not reach into the core',
    'plugins/a.ts',
    'export { y } from \'../core/index.ts\'',
    'plugins/a.ts:1 imports ../core/index.ts: plugins reach the core through its exports, @dispatch/core'
  ],
  [
    'pages of the console do not reach around the API',
    'plugins/console/pages/a.ts',
    'import type { x } from \'@dispatch/core\'',
    'plugins/console/pages/a.ts:1 imports @dispatch/core: pages of the console reach data through the public API alone'
  ],
  [
    'pages of the console do not reach accounts and tables, which are packages',
    'plugins/console/pages/a.ts',
    'import type { Users } from \'@dispatch/accounts\'',
    'plugins/console/pages/a.ts:1 imports @dispatch/accounts: pages of the console reach data through the public API alone'
  ],
  [
    'plugins do not import providers',
    'plugins/a.ts',
    'const load = () => import(\'../providers/acme/index.ts\')',
    'plugins/a.ts:1 imports ../providers/acme/index.ts: plugins know the core and its packages alone'
  ],
  [
    'providers do not import the whole core',
    'providers/acme/a.ts',
    'import \'@dispatch/core\'',
    'providers/acme/a.ts:1 imports @dispatch/core: providers import @dispatch/core/provider alone'
  ],
  [
    'providers do not import the core by path',
    'providers/acme/a.ts',
    'import \'../../core/provider.ts\'',
    'providers/acme/a.ts:1 imports ../../core/provider.ts: providers import @dispatch/core/provider alone'
  ],
  [
    'providers do not import each other',
    'providers/other/index.ts',
    'import \'../acme/index.ts\'',
    'providers/other/index.ts:1 imports ../acme/index.ts: providers import @dispatch/core/provider alone'
  ],
  [
    'providers do not reach the network',
    'providers/acme/a.ts',
    'import { request } from \'https\'',
    'providers/acme/a.ts:1 imports https: providers import @dispatch/core/provider alone'
  ],
  [
    'providers do not reach the files',
    'providers/acme/a.ts',
    'type Stats = import(\'node:fs\').Stats',
    'providers/acme/a.ts:1 imports node:fs: providers import @dispatch/core/provider alone'
  ],
  [
    'pdfkit has one home',
    'core/packages/documents/render/docx.ts',
    'import type PDFDocument from \'pdfkit\'',
    'core/packages/documents/render/docx.ts:1 imports pdfkit: pdfkit belongs to core/packages/documents/render/pdf.ts'
  ],
  [
    'a day is not parsed again with Date',
    'core/packages/services/a.ts',
    'const now = new Date()\nexport const at = (day: string) => new Date(day)',
    'core/packages/services/a.ts:2 calls new Date(: a day is parsed once, in ' +
    '(core/packages/common/(day|formats)|providers/stripe/time).ts'
  ],
  [
    'nor with Date.parse',
    'core/packages/documents/a.ts',
    'export const at = (day: string) => Date.parse(day)',
    'core/packages/documents/a.ts:1 calls Date.parse(: a day is parsed once, in ' +
    '(core/packages/common/(day|formats)|providers/stripe/time).ts'
  ],
  [
    'nor by a provider, with Temporal',
    'providers/acme/a.ts',
    'export const at = (day: string) => Temporal.PlainDate.from(day)',
    'providers/acme/a.ts:1 calls Temporal.PlainDate.from(: a day is parsed once, in ' +
    '(core/packages/common/(day|formats)|providers/stripe/time).ts'
  ],
  [
    'a mailbox is not taken apart again',
    'providers/acme/a.ts',
    'export const domainOf = (address: string) => address.split(\'@\')[1]',
    'providers/acme/a.ts:1 calls split(\'@\'): a mailbox is parsed once, in core/packages/common/(mailbox|problems).ts'
  ],
  [
    'nor checked by a pattern of its own',
    'providers/acme/a.ts',
    'export const form = /^[^@\\s]+@/',
    'providers/acme/a.ts:1 calls [^@\\s]: a mailbox is parsed once, in core/packages/common/(mailbox|problems).ts'
  ],
  [
    'the decimals of a currency are those of one table',
    'core/pipeline/a.ts',
    'export const cents = (amount: Decimal) => amount.mul(100)',
    'core/pipeline/a.ts:1 calls .mul(100): the minor unit of a currency is parsed once, in core/packages/common/currencies.ts'
  ],
  [
    'an e-mail address is read in one place',
    'core/packages/services/a.ts',
    'import isEmail from \'validator/lib/isEmail.js\'',
    'core/packages/services/a.ts:1 imports validator/lib/isEmail.js: validator/lib/isEmail.js belongs to core/packages/common/mailbox.ts'
  ],
  [
    'a phone number is read in one place',
    'core/pipeline/a.ts',
    'import { parsePhoneNumber } from \'libphonenumber-js/max\'',
    'core/pipeline/a.ts:1 imports libphonenumber-js/max: libphonenumber-js belongs to core/packages/services/phone.ts'
  ],
  [
    'tsyringe has one home',
    'plugins/a.ts',
    'import { inject } from \'tsyringe\'',
    'plugins/a.ts:1 imports tsyringe: tsyringe belongs to plugins/container.ts'
  ],
  [
    'reflect-metadata has one home',
    'scripts/a.ts',
    'import \'reflect-metadata\'',
    'scripts/a.ts:1 imports reflect-metadata: reflect-metadata belongs to plugins/container.ts'
  ],
  [
    'pg stays in the store',
    'plugins/a.ts',
    'import pg from \'pg\'',
    'plugins/a.ts:1 imports pg: pg belongs to core/(store|packages/(database|embedded-postgres|tables))/'
  ],
  [
    'SQL stays in the store',
    'core/pipeline/a.ts',
    'import { sql } from \'kysely\'',
    'core/pipeline/a.ts:1 imports kysely: kysely belongs to ' +
    'core/(store|packages/(accounts/(store|audit)|credits|database|tables|features/.+/(store|migrations)))/'
  ],
  [
    'undici has one home',
    'core/work/a.ts',
    'import { fetch } from \'undici\'',
    'core/work/a.ts:1 imports undici: undici belongs to core/packages/vendor-io/http/transport.ts'
  ],
  [
    'nodemailer has one home',
    'core/packages/vendor-io/http/transport.ts',
    'import \'nodemailer\'',
    'core/packages/vendor-io/http/transport.ts:1 imports nodemailer: nodemailer belongs to core/packages/vendor-io/smtp/mailer.ts'
  ],
  [
    'jose stays where it is',
    'core/store/a.ts',
    'import \'jose\'',
    'core/store/a.ts:1 imports jose: jose belongs to core/packages/(accounts/access|host|marketplace|vendor-io)/'
  ],
  [
    'fastify stays in the plugins',
    'core/a.ts',
    'import type { FastifyInstance } from \'fastify\'',
    'core/a.ts:1 imports fastify: fastify belongs to (plugins|core/packages/features/.+/(routes|pages|session))/'
  ],
  [
    'and so do its plugins',
    'core/a.ts',
    'import \'@fastify/swagger\'',
    'core/a.ts:1 imports @fastify/swagger: @fastify belongs to (plugins|core/packages/features/.+/(routes|pages|session))/|' +
    'core/packages/host/webhook/body.ts'
  ],
  [
    'piscina stays in the documents',
    'core/pipeline/a.ts',
    'import \'piscina\'',
    'core/pipeline/a.ts:1 imports piscina: piscina belongs to core/packages/documents/'
  ],
  [
    'a file does not import itself in a circle',
    'core/store/db/schema.ts',
    'import \'./schema.ts\'',
    'core/store/db/schema.ts:1 imports ./schema.ts: no circles (core/store/db/schema.ts → core/store/db/schema.ts)'
  ],
  [
    'nor through others',
    'core/provider.ts',
    'import \'./index.ts\'\nimport { a } from \'./store/a.ts\'',
    'core/store/a.ts:1 imports ../provider.ts: no circles (core/provider.ts → core/store/a.ts → core/provider.ts)'
  ]
]

for (const [rule, file, text, expected] of breaches) {
  void t.test(rule, t => {
    const tree = { ...kept, 'core/store/a.ts': 'import type { P } from \'../provider.ts\'', [file]: text }
    t.same(check(t, tree).faults, [expected])
    t.end()
  })
}

void t.test('every breach is named, in the order of the files', t => {
  const { faults } = check(t, { ...kept, 'plugins/a.ts': 'import \'pg\'\nimport \'../core/index.ts\'', 'core/a.ts': 'import \'fastify\'' })
  t.same(faults.map(line => line.split(' ')[0]), ['core/a.ts:1', 'plugins/a.ts:1', 'plugins/a.ts:2'])
  t.end()
})

/** A page that names every rule, and every package of the tree that has a home. */
const rules = ['core knows neither plugins nor providers, nor the kit',
  'features know the core, the toolkits of the plugins and packages by their names, of the kit what an installation runs',
  'pages of features reach data through the public API alone', 'packages know other packages by their names alone',
  'the process of an adapter knows @dispatch/common, @dispatch/host/process and what providers import',
  'programs find features, and name none', 'packages are reached by their names',
  'plugins reach the core through its exports, @dispatch/core', 'plugins know the core and its packages alone',
  'pages of the console reach data through the public API alone', 'providers import @dispatch/core/provider alone',
  '`pdfkit` `piscina` `kysely` `pg` `undici` `nodemailer` `jose` `fastify` `@fastify` `tsyringe` `reflect-metadata`']

/** The row of a folder with what it may import. */
const row = (folder: string, ...allowed: string[]): string =>
  `| \`${folder}\` | what it is | ${allowed.map(name => `\`${name}\``).join(', ')} |`
const folders = [
  row('core/store', '@dispatch/documents'),
  row('core/access', 'core/store'),
  row('core/work'),
  row('core/packages/documents'),
  row('core/packages/vendor-io')
]

const walled = {
  ...kept,
  'core/store/a.ts': 'import { render } from \'@dispatch/documents\'',
  'core/access/a.ts': 'import type { A } from \'../store/a.ts\''
}

void t.test('the page of the core says what each folder may import', t => {
  t.same(check(t, { ...walled, 'core/guides/folders.md': [...rules, ...folders].join('\n') }), { files: 17, faults: [] })
  t.end()
})

const unruly: [rule: string, files: Record<string, string>, rows: string[], expected: string[]][] = [
  [
    'an import that the page does not allow',
    { 'core/work/a.ts': 'import \'../store/a.ts\'' },
    folders,
    ['core/work/a.ts:1 imports ../store/a.ts: core/guides/folders.md does not let core/work know core/store']
  ],
  [
    'a package that the page does not allow',
    { 'core/work/a.ts': 'import \'@dispatch/documents\'' },
    folders,
    ['core/work/a.ts:1 imports @dispatch/documents: core/guides/folders.md does not let core/work know @dispatch/documents']
  ],
  [
    'a row that allows what nothing uses',
    {},
    [...folders.slice(0, 2), row('core/work', 'core/store'), ...folders.slice(3)],
    ['core/guides/folders.md lets core/work know core/store, which it does not use']
  ],
  ['a folder that has no row', {}, folders.toSpliced(3, 1), ['no page names `core/packages/documents`']],
  [
    'folders inside of a part in a circle',
    { 'core/store/db/b.ts': 'import \'../dispatch/c.ts\'', 'core/store/dispatch/c.ts': 'import type { D } from \'../db/d.ts\'' },
    folders,
    ['folders in a circle: core/store/db → core/store/dispatch → core/store/db']
  ],
  [
    'folders in a circle',
    { 'core/store/b.ts': 'import \'../access/tokens.ts\'' },
    [
      row('core/store', '@dispatch/documents', 'core/access'),
      ...folders.slice(1)
    ],
    ['folders in a circle: core/store → core/access → core/store']
  ]
]

for (const [rule, files, rows, expected] of unruly) {
  void t.test(`the page of the core: ${rule}`, t => {
    t.same(check(t, { ...walled, ...files, 'core/guides/folders.md': [...rules, ...rows].join('\n') }).faults, expected)
    t.end()
  })
}

void t.test('the page of the core names every rule, and every package that has a home', t => {
  const { faults } = check(t, { ...walled, 'core/guides/folders.md': folders.join('\n') })
  const [packages = '', ...sentences] = rules.toReversed()
  t.same(new Set(faults), new Set([...sentences, ...packages.split(' ')].map(words => `no page names ${words}`)))
  t.end()
})

void t.test('what stands in comments and strings is no import', t => {
  t.same(check(t, { 'core/a.ts': '// import \'fastify\'\nexport const text = "import \'pg\'"' }).faults, [])
  t.end()
})

void t.test('a service is named in its folder alone', t => {
  const tree = {
    ...kept,
    'core/packages/services/sms/index.ts': 'export const sms = { name: \'sms\' }',
    'core/packages/services/sms/check.ts': 'export const beside = \'email\'',
    'core/packages/services/email/index.ts': 'export const email = { name: \'email\', field: \'sms\' }'
  }
  const named = (file: string, text: string): string[] =>
    check(t, { ...tree, [file]: text }).faults.filter((line) => line.startsWith(file) && line.includes(' names the service '))
  t.same(check(t, tree).faults, [
    'core/packages/services/email/index.ts:1 names the service "sms": lists of services are derived from core/packages/services/all.ts'
  ])
  t.same(named('core/a.ts', 'const a = 1\nconst b = \'sms\'').length, 1)
  t.same(named('plugins/console/a.ts', 'export const forms = { sms: {} }').length, 1)
  t.same(named('scripts/a.ts', 'export type Messages = \'email\' | \'sms\'').length, 2)
  t.same(named('core/a.ts', 'export const is = (service: string) => service === \'email\'').length, 1)
  t.same(named('core/a.ts', 'export const column = \'email\'').length, 0, 'an e-mail address is no service')
  t.same(named('core/packages/services/sms/more.ts', 'export const own = \'sms\'').length, 0)
  t.end()
})

void t.test('a format is named in its folder alone', t => {
  const formats = 'core/packages/documents/formats/'
  const { faults } = check(t, {
    ...kept,
    [`${formats}xlsx/index.ts`]: 'export const xlsx = { apiName: \'XLSX\' }',
    'plugins/a.ts': 'export const saved = [\'XLSX\']'
  })
  t.same(faults.filter((line) => line.includes(' names the format ')), [
    `plugins/a.ts:1 names the format "XLSX": lists of formats are derived from ${formats}all.ts`
  ])
  t.end()
})

void t.test('what is sealed is opened in files that are named, and each of these opens something', t => {
  const owner = 'core/packages/host/settings/settings.ts'
  const faults = (file: string, text: string): string[] =>
    check(t, { ...kept, [file]: text }).faults.filter((line) => line.startsWith(file))
  t.same(faults('plugins/a.ts', 'export const a = 1\nexport const b = keyring.open(a)'), [
    'plugins/a.ts:2 opens what is sealed: only the files among the openers of check-walls.ts do'
  ])
  t.same(faults(owner, 'export const c = vault.keyring.open(1)').filter((line) => line.includes('sealed')), [])
  t.same(faults(owner, 'export const c = 1').filter((line) => line.includes('sealed')), [
    `${owner} opens nothing that is sealed: it need not be among the openers`
  ])
  t.same(openers.filter((file) => !existsSync(new URL(`../../${file}`, import.meta.url))), [], 'each is a file of this tree')
  t.end()
})

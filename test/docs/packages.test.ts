import { writePackage } from '@dispatch/marketplace'
import { execFile, execFileSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { manifestOf } from '../../core/packages/marketplace/test/support.ts'
import { contains } from '../support/matching.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The client is made before it is run: its own tests run its examples. */
const others = ['client']

/** What the example of each package finds in its folder, and what it prints and leaves behind. */
const examples: Record<string, { given?: (folder: string) => void, prints: RegExp, leaves?: [file: string, begins: RegExp] }> = {
  accounts: { prints: /^true false\ntrue false\nThis needs the role admin, but the user is member\.\n$/ },
  common: { prints: /path: '\/total',\s+code: 'required'[^]*0\.30\n$/ },
  credits: { prints: /^3 3 0\n$/ },
  database: { prints: /^true The database cannot be reached/ },
  documents: { prints: /^1 page\n$/, leaves: ['receipt.pdf', /^%PDF-1\.\d/] },
  einvoice: {
    given: (folder) => {
      cpSync(join(root, 'templates/e-invoice/sample.json'), join(folder, 'invoice.json'))
    },
    prints: /^(?![^]*BR-)/,
    leaves: ['invoice.xml', /^<\?xml[^]*<Invoice /]
  },
  files: { prints: /^8 Buy milk\n$/, leaves: ['documents/2026/note', /^Buy milk$/] },
  marketplace: {
    given: (folder) => {
      mkdirSync(join(folder, 'adapters'))
      writeFileSync(join(folder, 'adapters/acme.tgz'), writePackage(manifestOf(), new Map([['index.js', Buffer.from('')]])).bytes)
      for (const command of ['keygen ours', 'build adapters', 'sign adapters ours.private.json']) {
        execFileSync(process.execPath, [join(root, 'scripts/catalog.ts'), ...command.split(' ')], {
          cwd: folder,
          env: { ...process.env, INIT_CWD: undefined }
        })
      }
    },
    prints: /^Acme 1\.0\.0 by Acme Ltd, private\n$/
  },
  'embedded-postgres': { prints: /\{ answer: 42 \}\n$/ },
  queue: { prints: /^2026-02-28T23:00:00\.000Z\nswept\n$/ },
  sandbox: {
    given: (folder) => {
      cpSync(join(root, 'test/fixtures/zoo/healthy'), join(folder, 'provider'), { recursive: true })
    },
    prints: /^Zoo: sms,postal\n$/
  },
  conformance: {
    given: (folder) => {
      cpSync(join(root, 'test/fixtures/zoo/healthy'), join(folder, 'provider'), { recursive: true })
    },
    prints: /\d{3,} passed, 0 failed/
  },
  contract: { prints: /^1\.0\.0, 1\.0\.1, 1\.1\.0 false\n402 The invoice costs 2 credits[^\n]*\nfalse\n$/ },
  host: {
    given: (folder) => {
      cpSync(join(root, 'test/fixtures/zoo/healthy'), join(folder, 'provider'), { recursive: true })
    },
    prints: /^Zoo: sms,postal\n$/
  },
  services: { prints: /^invoicing document by a provider\n[^]*\nfile document by the core\n[^]*\nfalse\n$/ },
  tables: { prints: /^select "step_id" from "steps" where "status" = \$1\n$/ },
  'vendor-io': { prints: /^The host "169\.254\.169\.254" may not be called[^\n]*\noutcome_unknown\n$/ }
}

void t.test('every package has a page with an example', (t) => {
  t.same(globSync('core/packages/*/package.json', { cwd: root }).map((path) => path.split('/')[2]).sort(),
    [...others, ...Object.keys(examples)].sort())
  t.end()
})

for (const [name, { given, prints, leaves }] of Object.entries(examples)) {
  void t.test(`the example of ${name} runs as it is written`, async (t) => {
    const page = readFileSync(join(root, `core/packages/${name}/README.md`), 'utf8')
    const [, code = ''] = /^```ts run\n([^]*?)^```$/m.exec(page) ?? []
    // Short enough that nobody skips it.
    t.ok(code.split('\n').length <= 16)
    const folder = mkdtempSync(join(tmpdir(), 'dispatch-packages-'))
    t.teardown(() => rmSync(folder, { recursive: true }))
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    writeFileSync(join(folder, 'example.ts'), code)
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    given?.(folder)
    const { stdout } = await promisify(execFile)(process.execPath, ['example.ts'], { cwd: folder })
    contains(t, stdout, prints)
    if (leaves !== undefined) contains(t, readFileSync(join(folder, leaves[0])).toString('latin1').slice(0, 400), leaves[1])
  })
}

void t.test('the files, folders and links that a page names are there', (t) => {
  for (const path of globSync('**/README.md', { cwd: root, exclude: ['**/node_modules', 'data'] })) {
    const text = readFileSync(join(root, path), 'utf8')
    // What begins with /docs/ is an address of the service: the test of the documentation follows it.
    for (const [, link = ''] of text.matchAll(/\]\((?!\/docs\/)([^)#:\s]+)(?:#[^)]*)?\)/g)) {
      t.ok(existsSync(join(root, dirname(path), link)), `${path}: ${link}`)
    }
    for (const [, named = ''] of text.matchAll(/`((?:core|plugins|test|scripts)\/[\w./-]+)`/g)) {
      t.ok(existsSync(join(root, named)), `${path}: ${named}`)
    }
  }
  t.end()
})

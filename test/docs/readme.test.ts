import { serviceNames } from '@dispatch/services'
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { has } from '../support/matching.ts'
import { invoiceRequest, operator, shippedProviders, startService } from '../support/service.ts'

/** A fenced block of a page; `info` is what stands behind the fence. */
type Block = { info: string, text: string }

const root = fileURLToPath(new URL('../..', import.meta.url))

function blocksOf (page: string): Block[] {
  return [...readFileSync(join(root, page), 'utf8').matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(([, info = '', text = '']) => ({
    info,
    text
  }))
}

/** Writes the blocks that name a file. */
function writeFiles (blocks: Block[], folder: string): void {
  for (const { info, text } of blocks) {
    const [, file] = /file=(\S+)/.exec(info) ?? []
    if (file === undefined) continue
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
}

function temporary (t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'dispatch-docs-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  return folder
}

await t.test('what the README lets a newcomer do works as it is written', async (t) => {
  const folder = temporary(t)
  cpSync(join(shippedProviders, 'simulator'), join(folder, 'providers/simulator'), { recursive: true })
  const service = await startService(t, { config: { providerDirectories: [join(folder, 'providers')] } })
  const blocks = blocksOf('README.md')
  writeFiles(blocks, folder)
  const answers: string[] = []
  for (const { info, text } of blocks.filter(({ info }) => info === 'sh run')) {
    for (const command of text.split(/^(?=curl)/m)) {
      const { stdout } = await promisify(execFile)('sh', ['-c', command.replaceAll('http://127.0.0.1:3000', service.url)])
      t.ok(stdout.startsWith('{'), info)
      answers.push(stdout)
    }
  }
  const [
    dispatched,
    found,
    credits,
    made,
    chained,
    sheet,
    company,
    user,
    settings,
    audit,
    own,
    ownChoice,
    first,
    reloaded,
    configured,
    chosen
  ] = answers.map((answer) => JSON.parse(answer))
  has(t, dispatched, { success: true, providerName: 'simulator', metadata: { orderId: 'A-1001' } })
  has(t, found, { data: [{ dispatchId: dispatched.dispatchId, status: 'succeeded', creditsCharged: 1 }] })
  has(t, credits, { balance: 99, held: 0, ledger: [{ kind: 'debit', amount: -1 }, { kind: 'grant', amount: 100 }] })
  has(t, made, { mode: 'test', services: ['invoicing', 'email'], key: /^dk_test_/ })
  has(t, chained, { success: true, steps: [{ service: 'file' }, { service: 'email', providerName: 'simulator' }] })
  has(t, sheet, { success: true, generatedDocument: { filename: 'Facture n° 12.xlsx' } })
  has(t, [company, user, settings], [
    { name: 'Acme', balance: 500 },
    { role: 'member', services: ['invoicing', 'email'] },
    { id: company.id, lowCredit: 50 }
  ])
  has(t, audit, {
    data: [{ action: 'settings.changed' }, { action: 'user.created', object: { id: String(user.id) } }, { action: 'company.created' }]
  })
  t.same([own.valid, ownChoice.services.invoicing.providerName, first.success, first.providerName], [true, 'simulator', true, 'simulator'],
    'the first invoice of a new company')
  has(t, reloaded, { data: [{ state: 'installed', code: 'acme' }, { state: 'installed', code: 'simulator' }] })
  has(t, configured, { code: 'acme', valid: true, settings: { apiKey: { set: true } } })
  has(t, chosen, { services: { invoicing: { providerName: 'acme', chosenBy: 'company' } } })
  const next = await service.send('POST', '/api/invoicing', { body: invoiceRequest() })
  has(t, next.body, { success: true, providerName: 'acme', providerResponse: { status: 'created' } })
})

await t.test('the provider of the integrators\' page is found, and each thing that it does has the outcome the page says', async (t) => {
  const folder = temporary(t)
  writeFiles(blocksOf('providers/README.md'), folder)
  const service = await startService(t, { config: { providerDirectories: [shippedProviders, folder] } })
  const outcomes = {
    good: [200, undefined],
    bad: [422, 'provider_error'],
    closed: [503, 'provider_unavailable'],
    silent: [504, 'outcome_unknown']
  }
  for (const [mood, [status, error]] of Object.entries(outcomes)) {
    const configured = await service.send('PUT', '/api/v1/company/providers/acme', { body: { settings: { mood } } })
    t.equal(configured.status, 200)
    const answer = await service.send('POST', '/api/invoicing', {
      body: invoiceRequest({}, { providerName: 'acme', settings: { urgent: true } })
    })
    t.equal(answer.status, status, mood)
    t.equal(answer.body.error, error, mood)
    if (mood === 'good') has(t, answer.body.providerResponse, { status: 'rushed', type: 'INVOICE' })
  }
  const { body } = await service.send('GET', '/api/v1/providers', {}, operator)
  has(t, body.data[0], { code: 'acme', health: { state: 'ok' } })
})

await t.test('the README names every service, and the providers that do it', async (t) => {
  const service = await startService(t)
  const { body } = await service.send('GET', '/api/v1/providers')
  const shipped = (name: string): string[] =>
    body.data.filter(({ code, services }: any) => code !== 'simulator' && name in services).map(({ code }: any) => code)
  const rows = [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/^\| `(\w+)` \| [^|]* \| ([^|]*) \|$/gm)]
  t.strictSame(rows.map(([, name]) => name).sort(), [...serviceNames].sort())
  for (const [, name = '', providers = ''] of rows) {
    t.strictSame([...providers.matchAll(/\[(\w+)\]\(providers\/\1\/README\.md\)/g)].map(([, code]) => code), shipped(name), name)
  }
})

await t.test('the operators\' page names every variable that the service reads', (t) => {
  const read = ['config.ts', 'config-transport.ts', 'paths.mjs', 'peppol.ts', 'storage.ts', 'traces.ts'].map((file) =>
    readFileSync(join(root, `plugins/config/${file}`), 'utf8')
  ).join('')
  const variables = new Set([...read.matchAll(/env(?:\[|, )'([A-Z_]+)'/g)].map(([, name]) => name).sort())
  const page = readFileSync(join(root, 'plugins/guides/operator.md'), 'utf8')
  const named = new Set([...page.matchAll(/^\| `([A-Z_]+)`/gm)].map(([, name]) => name).sort())
  t.strictSame(named, variables)
  t.end()
})

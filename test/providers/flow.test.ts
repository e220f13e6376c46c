import t, { type Test } from 'tap'
import type { Json, JsonObject } from '../../core/packages/common/json.ts'
import type { VendorReply } from '../../core/packages/conformance/vendor/vendor.ts'
import { writeStatus } from '../../core/packages/einvoice/index.ts'
import { checkSettings, mergeSettings } from '../../core/packages/host/settings/settings.ts'
import type { InvoicingDispatch } from '../../core/packages/services/invoicing/index.ts'
import { invoice, memoryState } from '../fixtures/providers/call.ts'
import { has } from '../support/matching.ts'
import { content, type Stage, stageOf } from '../support/provider-stage.ts'

const settings = {
  url: 'https://api.flow.platform.example/flow-service',
  tokenUrl: 'https://auth.platform.example/token',
  clientId: 'a-client',
  clientSecret: 'a-client-secret'
}
const eInvoice = (
  more: Partial<InvoicingDispatch['invoicing']> = {},
  document: Partial<InvoicingDispatch['document']> = {}
): InvoicingDispatch =>
  invoice({ invoicing: { documentType: 'E_INVOICE', ...more }, document: { ...invoice().document, size: content.length, ...document } })

const token: VendorReply = { json: { access_token: 'a-token-of-the-platform', expires_in: 300 } }
const submit = 'POST /flow-service/v1/flows'

async function flow (t: Test, answers: Record<string, VendorReply> = {}): Promise<Stage> {
  const stage = await stageOf(t, 'flow', settings)
  for (const [what, answer] of Object.entries({
    'POST /token': token,
    [submit]: { status: 202, json: { flowId: 'flow-1' } },
    ...answers
  })) stage.vendor.on(what, answer)
  return stage
}

const infoOf = ({ vendor }: Stage): Json =>
  JSON.parse(vendor.requests.find(({ path }) => path.endsWith('/flows'))?.parts?.[0]?.body.toString() ?? 'null') as Json

const syntaxes: [InvoicingDispatch['invoicing']['eInvoiceFormat'], string][] = [['FACTUR_X', 'Factur-X'], ['UBL', 'UBL'], ['CII', 'CII']]
for (const [eInvoiceFormat, flowSyntax] of syntaxes) {
  await t.test(`${String(eInvoiceFormat)} goes out as ${flowSyntax}`, async (t) => {
    const stage = await flow(t)
    t.strictSame(await stage.dispatch('invoicing', eInvoice(eInvoiceFormat === undefined ? {} : { eInvoiceFormat })), {
      outcome: 'accepted',
      response: { id: 'flow-1', status: 'Pending' }
    })
    t.strictSame(infoOf(stage), { flowSyntax, trackingId: 'step-1', sha256: '0'.repeat(64), name: 'F-1.pdf' })
  })
}

await t.test('the profile of a flow is that of the file; another one is refused before anything is sent', async (t) => {
  for (const [eInvoiceProfile, flowProfile] of [['BASIC', 'Basic'], ['XRECHNUNG', 'CIUS'], ['EXTENDED_CTC_FR',
    'Extended-CTC-FR']] as const)
  {
    const stage = await flow(t)
    has(t, await stage.dispatch('invoicing', eInvoice({ eInvoiceProfile })), { outcome: 'accepted' })
    has(t, infoOf(stage), { flowProfile })
  }
  const stage = await flow(t)
  const asked = { settings: { ...settings, flowProfile: 'CIUS' } }
  has(t, await stage.dispatch('invoicing', eInvoice({ eInvoiceProfile: 'EXTENDED_CTC_FR' }), asked), {
    outcome: 'rejected',
    error: { code: 'other_profile' }
  })
  t.strictSame(stage.vendor.requests, [])
  has(t, await stage.dispatch('invoicing', eInvoice({ eInvoiceProfile: 'EXTENDED' }), asked), { outcome: 'accepted' })
  has(t, infoOf(stage), { flowProfile: 'CIUS' }, 'it has no word for EXTENDED')
})

await t.test('a long name of a file is cut to what the interface takes', async (t) => {
  const stage = await flow(t)
  await stage.dispatch('invoicing', eInvoice({}, { filename: `${'F'.repeat(300)}.pdf` }))
  has(t, infoOf(stage), { name: 'F'.repeat(255) })
})

await t.test('a sandbox that has no token address of its own signs in where production does', async (t) => {
  const stage = await flow(t)
  const sandboxed: JsonObject = { ...settings, sandboxUrl: 'https://api.test.example/flow-service' }
  has(t, await stage.dispatch('invoicing', eInvoice(), { settings: sandboxed, sandbox: true }), { outcome: 'accepted' })
  t.strictSame(stage.vendor.requests.map(({ host }) => host), ['auth.platform.example', 'api.test.example'])
})

await t.test('an id of the platform is a name in a path and nothing else', async (t) => {
  const stage = await flow(t, {
    'GET /flow-service/v1/flows/a%2F..%2Fb%3F': { json: { flowId: 'a/../b?', acknowledgement: { status: 'Ok' } } }
  })
  t.strictSame(await stage.ask('invoicing', 'status', { id: 'a/../b?' }), { id: 'a/../b?', status: 'Ok' })
})

await t.test('addresses are plain ones, and a changed one drops the secret', async (t) => {
  const { provider: { manifest: { settings: form } } } = await flow(t)
  t.strictSame(checkSettings(form, settings), [])
  for (const url of [
    'http://api.example.com',
    'https://api.example.com/flow/',
    'https://user@api.example.com',
    'https://api.example.com/flow?x=1'
  ]) has(t, checkSettings(form, { ...settings, url }), [{ path: '/url' }], url)
  const stored = {
    plain: { ...settings },
    secrets: { clientSecret: { sealed: { kid: 'k', key: '', value: '' }, updatedAt: '2026-03-14T09:30:00.000Z' } }
  } as unknown as Parameters<typeof mergeSettings>[1]
  const { url, tokenUrl, clientId } = settings
  t.same(Object.keys(mergeSettings(form, stored, { url: 'https://api.other.example', tokenUrl, clientId }).kept), [])
  t.same(Object.keys(mergeSettings(form, stored, { url, tokenUrl, clientId }).kept), ['clientSecret'])
})

await t.test('Super PDP offers the same interface, and takes the client by HTTP Basic', async (t) => {
  const address = 'api.superpdp.tech'
  const platform = { url: `https://${address}/afnor-flow`, tokenUrl: `https://${address}/oauth2/token`, tokenSignIn: 'basic' }
  const stage = await stageOf(t, 'flow', { ...settings, ...platform })
  t.strictSame(checkSettings(stage.provider.manifest.settings, { ...settings, ...platform }), [])
  stage.vendor.on('POST /oauth2/token', { json: { access_token: 'a-token-of-the-platform', token_type: 'bearer', expires_in: 1799 } })
  stage.vendor.on('POST /afnor-flow/v1/flows', { status: 202, json: { flowId: '1234' } })
  t.strictSame(await stage.dispatch('invoicing', eInvoice({ eInvoiceFormat: 'UBL' })), {
    outcome: 'accepted',
    response: { id: '1234', status: 'Pending' }
  })
  const [token, sent] = stage.vendor.requests
  has(t, token, { host: address, body: Buffer.from('grant_type=client_credentials') })
  has(t, token?.headers, { authorization: `Basic ${Buffer.from('a-client:a-client-secret').toString('base64')}` })
  t.equal(`${sent?.host ?? ''}${sent?.path ?? ''}`, `${address}/afnor-flow/v1/flows`)
  has(t, infoOf(stage), { flowSyntax: 'UBL', trackingId: 'step-1', name: 'F-1.pdf' })
})

/** A message as platforms make it. */
function told (code: '204' | '205' | '212', at: string): VendorReply {
  const seller = { id: '732829320', scheme: '0002' }
  return {
    headers: { 'content-type': 'application/xml' },
    text: writeStatus({
      id: `${code}-${at}`,
      process: 'REGULATED',
      code,
      name: 'x',
      issued: at,
      at,
      invoice: { number: 'F-1', type: '380', date: '2026-03-14', seller },
      sender: { role: 'WK' },
      issuer: { role: 'BY', id: { id: '404833048', scheme: '0002' } },
      recipients: [{ role: 'SE', address: { id: '732829320', scheme: '0225' } }],
      details: [{ amounts: [{ kind: 'MEN', amount: '24.00', currency: 'EUR', rate: '20.00' }] }]
    })
  }
}

await t.test('messages of the platform tell what becomes of an invoice: each is read once, and the newest status counts', async (t) => {
  const messages: { flowId: string, updatedAt: string, flowSyntax: string }[] = []
  const asked: Json[] = []
  const stage = await flow(t, {
    'GET /flow-service/v1/flows/flow-1': { json: { flowId: 'flow-1', acknowledgement: { status: 'Ok' } } },
    'GET /flow-service/v1/flows/lc-1': told('204', '2026-03-15T09:00:00'),
    'GET /flow-service/v1/flows/lc-2': told('205', '2026-03-16T09:00:00'),
    'GET /flow-service/v1/flows/lc-0': told('204', '2026-03-15T08:00:00')
  })
  stage.vendor.on('POST /flow-service/v1/flows/search', ({ body }) => {
    const { where } = JSON.parse(body.toString()) as { where: { updatedAfter?: string } }
    asked.push(where.updatedAfter ?? null)
    return { json: { results: messages.filter(({ updatedAt }) => updatedAt > (where.updatedAfter ?? '')) } }
  })
  const state = memoryState()
  const status = async (): Promise<unknown> =>
    (await stage.ask('invoicing', 'status', { id: 'flow-1' }, { state }) as { status: string }).status
  const reads = (): number => stage.vendor.requests.filter(({ path }) => path.includes('/lc-')).length
  t.equal(await status(), 'Ok', 'one that was sent before its number was remembered')
  t.strictSame(asked, [])

  has(t, await stage.dispatch('invoicing', eInvoice(), { state }), { outcome: 'accepted' })
  t.equal(await status(), 'Ok')
  messages.push({ flowId: 'lc-2', updatedAt: '2026-03-16T10:00:00Z', flowSyntax: 'CDAR' }, {
    flowId: 'lc-1',
    updatedAt: '2026-03-15T10:00:00Z',
    flowSyntax: 'CDAR'
  })
  t.equal(await status(), 'fr:205')
  messages.push({ flowId: 'lc-0', updatedAt: '2026-03-17T10:00:00Z', flowSyntax: 'CDAR' })
  t.equal(await status(), 'fr:205', 'an older status that comes later')
  t.equal(await status(), 'fr:205')
  t.strictSame([asked, reads()], [['2026-03-14T08:30:00.000Z', '2026-03-14T08:30:00.000Z', '2026-03-16T10:00:00Z', '2026-03-17T10:00:00Z'],
    3])

  // Another one with the number, as after a refusal.
  has(t, await stage.dispatch('invoicing', eInvoice(), { state }), { outcome: 'accepted' })
  t.equal(await status(), 'Ok', 'what was told of the one before is not told of it')
})

await t.test('a message that is none, or is gone, holds up none behind it', async (t) => {
  const stage = await flow(t, {
    'GET /flow-service/v1/flows/flow-1': { json: { flowId: 'flow-1', acknowledgement: { status: 'Ok' } } },
    'GET /flow-service/v1/flows/lc-1': { text: 'no XML', headers: { 'content-type': 'application/xml' } },
    'GET /flow-service/v1/flows/lc-2': { text: '<other/>', headers: { 'content-type': 'application/xml' } },
    'GET /flow-service/v1/flows/lc-3': { status: 404, json: { errorCode: 'NotFound', errorMessage: 'It is gone.' } },
    'GET /flow-service/v1/flows/lc-4': told('205', '2026-03-16T09:00:00')
  })
  const results = ['1', '2', '3', '4'].map((n) => ({ flowId: `lc-${n}`, updatedAt: `2026-03-16T10:00:0${n}Z`, flowSyntax: 'CDAR' }))
  stage.vendor.on('POST /flow-service/v1/flows/search', () => ({ json: { results } }))
  const state = memoryState()
  await stage.dispatch('invoicing', eInvoice(), { state })
  has(t, await stage.ask('invoicing', 'status', { id: 'flow-1' }, { state }), { status: 'fr:205' })
  stage.vendor.on('GET /flow-service/v1/flows/lc-4', { status: 503, json: {} })
  has(t, await stage.ask('invoicing', 'status', { id: 'flow-1' }, { state }), { outcome: 'unavailable' })
})

await t.test('of messages of one moment none is lost, where one is read and the other is not', async (t) => {
  const stage = await flow(t, {
    'GET /flow-service/v1/flows/flow-1': { json: { flowId: 'flow-1', acknowledgement: { status: 'Ok' } } },
    'GET /flow-service/v1/flows/lc-1': told('204', '2026-03-15T09:00:00'),
    'GET /flow-service/v1/flows/lc-2': { status: 503, json: {} }
  })
  const results = ['1', '2'].map((n) => ({ flowId: `lc-${n}`, updatedAt: '2026-03-16T10:00:00Z', flowSyntax: 'CDAR' }))
  stage.vendor.on('POST /flow-service/v1/flows/search', ({ body }) => {
    const { where: { updatedAfter = '' } } = JSON.parse(body.toString()) as { where: { updatedAfter?: string } }
    return { json: { results: results.filter(({ updatedAt }) => updatedAt > updatedAfter) } }
  })
  const state = memoryState()
  await stage.dispatch('invoicing', eInvoice(), { state })
  has(t, await stage.ask('invoicing', 'status', { id: 'flow-1' }, { state }), { outcome: 'unavailable' })
  stage.vendor.on('GET /flow-service/v1/flows/lc-2', told('205', '2026-03-16T09:00:00'))
  has(t, await stage.ask('invoicing', 'status', { id: 'flow-1' }, { state }), { status: 'fr:205' })
})

await t.test('an invoice whose answer was lost is known once it is found, and messages are read from its sending on', async (t) => {
  const asked: Json[] = []
  const stage = await flow(t, {
    [submit]: { status: 503, json: {} },
    'GET /flow-service/v1/flows/flow-1': { json: { flowId: 'flow-1', acknowledgement: { status: 'Ok' } } },
    'GET /flow-service/v1/flows/lc-1': told('205', '2026-03-16T09:00:00')
  })
  stage.vendor.on('POST /flow-service/v1/flows/search', ({ body }) => {
    const { where } = JSON.parse(body.toString()) as { where: JsonObject }
    asked.push(where)
    return 'trackingId' in where
      ? { json: { results: [{ flowId: 'flow-1', acknowledgement: { status: 'Pending' } }] } }
      : { json: { results: [{ flowId: 'lc-1', updatedAt: '2026-03-16T10:00:00Z', flowSyntax: 'CDAR' }] } }
  })
  const state = memoryState()
  has(t, await stage.dispatch('invoicing', eInvoice(), { state }), { outcome: 'uncertain' })
  has(t, await stage.ask('invoicing', 'lookup', { reference: 'step-1' }, { state }), { found: 'accepted' })
  has(t, await stage.ask('invoicing', 'status', { id: 'flow-1' }, { state }), { status: 'fr:205' })
  t.strictSame(asked, [{ trackingId: 'step-1' }, { flowType: ['CustomerInvoiceLC'], updatedAfter: '2026-03-14T08:30:00.000Z' }])
})

await t.test('what another invoice\'s poll reads of one whose answer was lost is not lost, nor overwritten once it is found', async (t) => {
  const messages: { flowId: string, updatedAt: string }[] = []
  const stage = await flow(t, {
    [submit]: { status: 503, json: {} },
    'GET /flow-service/v1/flows/flow-1': { json: { flowId: 'flow-1', acknowledgement: { status: 'Ok' } } },
    'GET /flow-service/v1/flows/lc-0': told('204', '2026-03-15T09:00:00'),
    'GET /flow-service/v1/flows/lc-1': told('205', '2026-03-16T09:00:00')
  })
  stage.vendor.on('POST /flow-service/v1/flows/search', ({ body }) => {
    const { where } = JSON.parse(body.toString()) as { where: { trackingId?: string, updatedAfter?: string } }
    return 'trackingId' in where
      ? { json: { results: [{ flowId: 'flow-1', acknowledgement: { status: 'Ok' } }] } }
      : { json: { results: messages.filter(({ updatedAt }) => updatedAt > (where.updatedAfter ?? '')) } }
  })
  for (const before of [[], [{ flowId: 'lc-0', updatedAt: '2026-03-15T10:00:00Z' }]]) {
    const state = memoryState()
    const status = (reference: string): Promise<unknown> => stage.ask('invoicing', 'status', { id: 'flow-1' }, { state, reference })
    messages.splice(0, messages.length, ...before)
    await state.put('invoice:another', 'F-0')
    // One with the number that was told of before, as after a refusal.
    if (before.length > 0) await state.put('status:F-1', { status: 'fr:213', at: '20260314090000' })
    await status('another')
    has(t, await stage.dispatch('invoicing', eInvoice(), { state }), { outcome: 'uncertain' })
    messages.push({ flowId: 'lc-1', updatedAt: '2026-03-16T10:00:00Z' })
    has(t, await status('another'), { status: 'Ok' })
    has(t, await stage.ask('invoicing', 'lookup', { reference: 'step-1' }, { state }), { found: 'accepted' })
    has(t, await status('step-1'), { status: 'fr:205' })
  }
})

await t.test('a part of a payment that was said here does not make the invoice paid; what was said elsewhere counts', async (t) => {
  const results = [{ flowId: 'lc-1', updatedAt: '2026-03-16T10:00:00Z', trackingId: 'message-1' }]
  const stage = await flow(t, {
    'GET /flow-service/v1/flows/flow-1': { json: { flowId: 'flow-1', acknowledgement: { status: 'Ok' } } },
    'GET /flow-service/v1/flows/lc-1': told('212', '2026-03-16T09:00:00'),
    'GET /flow-service/v1/flows/lc-2': told('212', '2026-03-17T09:00:00')
  })
  stage.vendor.on('POST /flow-service/v1/flows/search', () => ({ json: { results } }))
  const state = memoryState()
  await stage.dispatch('invoicing', eInvoice(), { state })
  const said = { id: 'flow-1', code: '212', status: {}, message: '<message/>' }
  has(t, await stage.ask('invoicing', 'say', said, { state, reference: 'message-1' }), { id: 'flow-1' })
  has(t, await stage.ask('invoicing', 'status', { id: 'flow-1' }, { state }), { status: 'Ok' })
  results.push({ flowId: 'lc-2', updatedAt: '2026-03-17T10:00:00Z', trackingId: 'of-another' })
  has(t, await stage.ask('invoicing', 'status', { id: 'flow-1' }, { state }), { status: 'fr:212' })
})

await t.test('what the seller says goes out as a message under a reference of its own', async (t) => {
  const stage = await flow(t)
  const said = { id: 'flow-1', code: '212', status: {}, message: '<message/>' }
  t.strictSame(await stage.ask('invoicing', 'say', said, { reference: 'message-1' }), { id: 'flow-1', status: 'Pending' })
  t.strictSame(infoOf(stage), { flowSyntax: 'CDAR', trackingId: 'message-1', name: 'status.xml' })
  const [, file] = stage.vendor.requests.at(-1)?.parts ?? []
  has(t, file, { name: 'file', filename: 'status.xml', contentType: 'application/xml', body: Buffer.from('<message/>') })
  stage.vendor.on(submit, { status: 503, json: {} })
  has(t, await stage.ask('invoicing', 'say', said, { reference: 'message-2' }), { outcome: 'uncertain' })
})

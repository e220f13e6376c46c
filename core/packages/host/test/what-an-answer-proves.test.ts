import t from 'tap'
import { callContext, installedProvider, invoice, outside } from '../../../../test/fixtures/providers/call.ts'
import { contains, has } from '../../../../test/support/matching.ts'
import { vendorOf } from '../../../../test/support/vendor.ts'
import type { JsonObject } from '../../common/json.ts'
import type { VendorReply } from '../../conformance/vendor/vendor.ts'
import { callDispatch, type Outcome } from '../call/dispatch.ts'
import type { Context } from '../manifest/context.ts'
import { deriveManifest } from '../manifest/derive.ts'
import { isVerb } from '../manifest/verbs.ts'
import { type ErrorReading, type Failure, failureOf, refused, Secret, Type } from '../provider.ts'

const { vendor, network } = await vendorOf(t)
const token = 'fake_token_6b1f0c93a7e25d48'
type Call = Context<{ token: string }, JsonObject>
type Way = { errors?: Partial<ErrorReading>, keyed?: boolean, dispatch?: (request: unknown, call: Call) => Promise<unknown> }

const send = async (_request: unknown, { http, settings }: Call): Promise<unknown> => ({
  ...await http.post('https://api.acme.test/v1/send', { bearer: settings.token, json: {} }, Type.Object({ id: Type.String() })),
  status: 'sent'
})

async function answered (answer: VendorReply, { errors = {}, keyed = false, dispatch = send }: Way = {}): Promise<Outcome> {
  vendor.answer(answer)
  if (!isVerb(dispatch)) throw new TypeError('no verb')
  const installed = installedProvider({
    hosts: ['api.acme.test'],
    settings: Type.Object({ token: Secret() }),
    errors,
    services: {
      invoicing: { documentTypes: ['INVOICE'], idempotency: keyed ? { kind: 'key', ttl: 60 } : { kind: 'none' }, dispatch }
    }
  }, { dispatch })
  const context = callContext({ settings: { token }, resources: outside({ network }) })
  return await callDispatch(installed, 'invoicing', invoice(), context)
}

/** What a provider learns of a failed request. */
async function failureWith (answer: VendorReply): Promise<Failure | undefined> {
  const seen: (Failure | undefined)[] = []
  await answered(answer, {
    dispatch: (request, call) =>
      send(request, call).catch((error: unknown) => {
        seen.push(failureOf(error))
        throw error
      })
  })
  return seen[0]
}

const soap: Partial<ErrorReading> = {
  at: '/Envelope/Body/Fault/faultcode',
  message: '/Envelope/Body/Fault/faultstring',
  refusals: [{ when: { '/Envelope/Body/Fault/faultcode': Type.String({ pattern: '(^|:)Client$' }) } }],
  map: { 'soap:Client': 'distant_service_error' }
}
const fault = (code: string) => ({
  'soap:Envelope': {
    '@xmlns:soap': 'http://schemas.xmlsoap.org/soap/envelope/',
    'soap:Body': { 'soap:Fault': { faultcode: code, faultstring: 'The addressee is unknown.' } }
  }
})
const inXml = { 'content-type': 'text/xml; charset=utf-8' }

await t.test('a fault that proves that nothing was done is a refusal, with its code and reason', async (t) => {
  t.strictSame(await answered({ status: 500, headers: inXml, xml: fault('soap:Client') }, { errors: soap }), {
    outcome: 'rejected',
    error: { word: 'distant_service_error', code: 'soap:Client', message: 'The addressee is unknown.', host: 'api.acme.test' }
  })
})

await t.test('whatever is not that answer proves nothing', async (t) => {
  const others: VendorReply[] = [
    { status: 500, headers: inXml, xml: fault('soap:Server') },
    { status: 500, headers: inXml, xml: fault('soap:ClientTimeout') },
    { status: 500, json: { faultcode: 'soap:Client' } },
    { status: 500, json: ['soap:Client'] },
    { status: 500, text: 'soap:Client' },
    { status: 500, headers: inXml, text: '<soap:Envelope><soap:Body><soap:Fault><faultcode>soap:Client' },
    { status: 500 },
    { status: 302, headers: { ...inXml, location: 'https://api.acme.test/' }, xml: fault('soap:Client') }
  ]
  for (const answer of others) {
    has(t, await answered(answer, { errors: soap }), { outcome: 'uncertain' }, JSON.stringify(answer))
  }
  vendor.answer({ status: 500, headers: inXml, xml: fault('soap:Client') })
  has(t, await answered({ status: 500, headers: inXml, xml: fault('soap:Client') }), { outcome: 'uncertain' }, 'it is declared nowhere')
})

await t.test('it is no proof for what an earlier request has made', async (t) => {
  vendor.on('POST /v1/first', { json: {} })
  const errors = { at: '/code', refusals: [{ status: 503, when: { '/code': Type.Literal('NOT_DONE') } }] }
  const dispatch = async (request: unknown, call: Call): Promise<unknown> => {
    await call.http.post('https://api.acme.test/v1/first', { json: {} }, Type.Unknown())
    return await send(request, call)
  }
  const answer = { status: 503, json: { code: 'NOT_DONE' } }
  has(t, await answered(answer, { errors }), { outcome: 'rejected', error: { code: 'NOT_DONE' } })
  has(t, await answered({ ...answer, status: 500 }, { errors }), { outcome: 'uncertain' }, 'another status')
  has(t, await answered(answer, { errors, dispatch }), { outcome: 'uncertain' }, 'after a request that was done')
})

await t.test('a conflict of a vendor with keys is a refusal where it says so', async (t) => {
  const errors = { at: '/error_summary', refusals: [{ status: 409, when: { '/error/tag': Type.Literal('path') } }] }
  const refusal = { status: 409, json: { error_summary: 'path/conflict', error: { tag: 'path' } } }
  has(t, await answered(refusal, { errors, keyed: true }), { outcome: 'rejected', error: { code: 'path/conflict' } })
  has(t, await answered({ status: 409, json: { error: { tag: 'busy' } } }, { errors, keyed: true }), { outcome: 'uncertain' })
})

await t.test('a manifest with a proof that proves nothing is refused', (t) => {
  const problemsOf = (refusals: unknown): unknown => {
    const fit = deriveManifest({
      code: 'acme',
      name: 'Acme',
      settings: Type.Object({}),
      errors: { refusals },
      services: { upload: { idempotency: { kind: 'none' }, dispatch: send } }
    }, '1.0.0')
    return fit.ok ? [] : fit.problems.map(({ path }) => path)
  }
  const sound = [{ when: { '/code': Type.Literal('NO') } }, { status: 502, when: { '/code': { enum: ['A', 'B'] }, '/id': false } }]
  t.same(problemsOf(sound), [])
  for (const when of [{ '/code': false }, { '/code': Type.String() }, { '/code': {} }, { '/code': true }, { '/code': { minLength: 1 } }]) {
    t.same(problemsOf([{ when }]), ['/errors/refusals/0/when'], JSON.stringify(when))
  }
  t.same(problemsOf([{ when: { '/code': { type: 'txt' } } }]), ['/errors/refusals/0/when/~1code'])
  for (const status of [200, 302, 400, 404, 429, 600]) {
    t.not((problemsOf([{ status, when: { '/code': Type.Literal('NO') } }]) as string[]).length, 0, String(status))
  }
  t.not((problemsOf([{ when: {} }]) as string[]).length, 0)
  t.end()
})

await t.test('a code may stand in a header alone', async (t) => {
  const errors: Partial<ErrorReading> = { at: ['/__type', { header: 'X-Amzn-ErrorType' }], map: { Throttled: 'provider_unavailable' } }
  const headers = { 'x-amzn-errortype': 'MessageRejected' }
  has(t, await answered({ status: 400, headers, json: {} }, { errors }), { outcome: 'rejected', error: { code: 'MessageRejected' } })
  has(t, await answered({ status: 400, headers, json: { __type: 'Other' } }, { errors }), { error: { code: 'Other' } })
  has(t, await answered({ status: 400, headers: { 'x-amzn-errortype': 'Throttled' } }, { errors }), { outcome: 'unavailable' })
  t.strictSame(await answered({ status: 400 }, { errors }), {
    outcome: 'rejected',
    error: { word: 'provider_error', message: '"api.acme.test" answered 400.', host: 'api.acme.test' }
  })
})

await t.test('reasons that stand under the names of their fields are told, each with its field', async (t) => {
  const reported = async (json: JsonObject, message: string | string[]): Promise<string> => {
    const outcome = await answered({ status: 422, json }, { errors: { message } })
    return outcome.outcome === 'accepted' ? '' : outcome.error.message
  }
  t.equal(await reported({ email: ['is taken', 'is too long'], name: ['is blank'] }, '/*'), 'email: is taken is too long name: is blank')
  t.equal(await reported({ errors: { lines: [{ text: 'No.' }, { text: 'Never.' }] } }, '/errors/*/*/text'), 'lines: No. lines: Never.')
  t.equal(await reported({ errors: [{ msg: 'First.' }, { msg: 'Second.' }] }, '/errors/*/msg'), 'First. Second.')
  t.equal(await reported({ errors: {}, message: 'All in all.' }, ['/errors/*', '/message']), 'All in all.')
  t.equal(await reported({ errors: [] }, '/errors/*'), '"api.acme.test" answered 422: {"errors":[]}.')
})

await t.test('a provider reads the whole body of an error: without secrets, and of a long one its beginning', async (t) => {
  const json = { email: ['is taken'], you: token }
  t.strictSame((await failureWith({ status: 422, json }))?.body, { ...json, you: '[redacted]' })
  t.strictSame((await failureWith({ status: 422, text: `No, ${token}.` }))?.body, 'No, [redacted].')
  t.equal((await failureWith({ status: 422 }))?.body, undefined)
  const long = (await failureWith({ status: 422, json: { token, words: 'x'.repeat(20_000) } }))?.body
  t.equal(typeof long === 'string' && long.length, 8_192)
  contains(t, long, /^\{"token":"\[redacted\]","words":"xxx/)
})

await t.test('with it, a provider keeps the reason of a refusal', async (t) => {
  const dispatch = (request: unknown, call: Call): Promise<unknown> =>
    send(request, call).catch((error: unknown) => {
      const { status, body } = failureOf(error) ?? {}
      if (status !== 422) throw error
      throw refused('invalid', Object.entries(body as Record<string, string[]>).map(([field, words]) => `${field} ${words.join()}`).join())
    })
  has(t, await answered({ status: 422, json: { email: ['is taken'] } }, { dispatch }), {
    outcome: 'rejected',
    error: { code: 'invalid', message: 'email is taken' }
  })
})

import { runConformance } from '@dispatch/conformance'
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { directory } from '../../../../test/fixtures/providers/folders.ts'

const healthy = fileURLToPath(new URL('../../../../test/fixtures/zoo/healthy', import.meta.url))
const good = JSON.parse(await readFile(join(healthy, 'fixtures/send.sms.json'), 'utf8'))
const event = JSON.parse(await readFile(join(healthy, 'fixtures/webhook.mailed.json'), 'utf8'))

/** Unusable fixtures, each with the sentence that says why. */
const unusable: Record<string, { file: string, content: unknown, why: RegExp }> = {
  'is no JSON': { file: 'send.bad.json', content: '{ "service":', why: /fixtures\/send\.bad\.json: .*JSON/ },
  'is called after nothing': {
    file: 'sned.bad.json',
    content: good,
    why: /A fixture is called send\.….json, webhook\.….json or after a verb: lookup\.….json, status/
  },
  'has a field that there is not': {
    file: 'send.bad.json',
    content: { ...good, reqest: {} },
    why: /\/reqest Unknown field "reqest" \(did you mean "request"\?\)/
  },
  'expects a request without an address': {
    file: 'send.bad.json',
    content: { ...good, exchange: [{ expect: { method: 'POST' }, answer: {} }] },
    why: /\/exchange\/0\/expect\/url The field "url" is required/
  },
  'has settings that do not fit': {
    file: 'send.bad.json',
    content: { ...good, settings: { apiKey: 'zoo_test_5f2b8c91d04e7a63' } },
    why: /\/settings\/webhookSecret The field "webhookSecret" is required/
  },
  'has a secret that is too short to be found': {
    file: 'send.bad.json',
    content: { ...good, settings: { ...good.settings, apiKey: 'key' } },
    why: /at least 8 characters.*: apiKey/
  },
  'asks for a service that is not offered': {
    file: 'send.bad.json',
    content: { ...good, service: 'upload', request: {} },
    why: /does not offer "upload"/
  },
  'asks for a verb that there is not': {
    file: 'document.bad.json',
    content: { service: 'sms', settings: good.settings, query: { id: 'msg_1' }, result: {} },
    why: /has no verb "document" for "sms"/
  },
  'has a request that does not fit the service': {
    file: 'send.bad.json',
    content: { ...good, request: { sms: { phoneNumber: '0612', message: 'Hello' } } },
    why: /\/sms\/phoneNumber Expected: an E\.164 phone number/
  },
  'has an outcome that there is not': {
    file: 'send.bad.json',
    content: { ...good, result: { outcome: 'sent' } },
    why: /\/result\/outcome Expected one of .*"rejected"/
  },
  'is an event of no status': {
    file: 'webhook.bad.json',
    content: { ...event, expect: { remoteId: 'ltr_1', status: 'posted' } },
    why: /\/expect\/status Expected one of .*unknown/
  }
}

for (const [fault, { file, content, why }] of Object.entries(unusable)) {
  await t.test(`a fixture that ${fault} is a failed case that says so`, async (t) => {
    const folder = await directory(t)
    await cp(healthy, folder, { recursive: true })
    await rm(join(folder, 'fixtures'), { recursive: true })
    await mkdir(join(folder, 'fixtures'))
    await writeFile(join(folder, 'fixtures', file), typeof content === 'string' ? content : JSON.stringify(content))
    const { cases } = await runConformance(folder, { only: ['fixtures', 'webhook'] })
    t.ok(cases.some((one) => one.status === 'failed' && why.test(one.why ?? '')), JSON.stringify(cases.map((one) => one.why)))
  })
}

await t.test('a service without an accepted fixture, a webhook without an event and a verb without a ' +
  'question are failed cases', async (t) => {
  const folder = await directory(t)
  await cp(healthy, folder, { recursive: true })
  await rm(join(folder, 'fixtures'), { recursive: true })
  const { cases } = await runConformance(folder)
  const failed = cases.filter(({ status }) => status === 'failed').map(({ rule, name }) => `${rule}: ${name}`)
  t.strictSame(failed, [
    'fixtures: an accepted dispatch of "postal"',
    'fixtures: an accepted dispatch of "sms"',
    'sandbox: a fixture shows the sandbox',
    'question: the verb "status" of "postal"',
    'cancel: a cancellation of "postal" that the vendor accepts',
    'cancel: a cancellation of "postal" that the vendor refuses',
    'webhook: the webhook of "postal"'
  ])
})

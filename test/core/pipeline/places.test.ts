import t from 'tap'
import { placesOf } from '../../../core/pipeline/places.ts'
import { judgeChain } from './support.ts'

const fileId = '01929f3c-6a1b-7c44-9f0e-2d5b8a7c1e90'
const recipient = { name: 'Ada Lovelace', address: '12 rue de la Paix', city: 'Paris', postalCode: '75002', country: 'FR' }
const mail = { from: 'demo@example.com', to: 'ada@example.com', subject: 'Hello' }
const template = { id: 7, data: {} }
const documents = [{ fileId }]
const signers = [{ email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace' }]

/** A path, a body of it, and where places of a step stand in it: the first step is 0, the first deferred one is 'later'. */
const cases: readonly [path: Parameters<typeof judgeChain>[0], body: object, step: number | 'later', places: Record<string, string>][] = [
  [['postal'], { template, postal: { recipient, documents } }, 0, {
    '/postal/documents/0': '/postal/documents/0',
    '/postal/recipient': '/postal/recipient',
    '/template': '/template',
    '/template/data/lines/0': '/template/data/lines/0',
    '': ''
  }],
  [['postal'], { document: { fileId }, postal: { recipient } }, 0, {
    '/template': '/document',
    '/document/fileId': '/document/fileId'
  }],
  [['email'], { ...mail, body: 'Hello', attachments: [{ fileId }] }, 0, {
    '/email/attachments/0/fileId': '/attachments/0/fileId',
    '/email/body': '/body'
  }],
  [['invoicing', 'postal'], { documentType: 'INVOICE', template, postal: { recipient, documents } }, 1, {
    '/postal/documents': '/postal/documents',
    '/template': '/template'
  }],
  [['file', 'postal'], { document: { fileId }, postal: { recipient, documents } }, 1, {
    '/postal/documents/0': '/postal/documents/0',
    '/template': '/document'
  }],
  [['file', 'email'], { fileContent: { templateName: 'letter', data: {} }, email: { ...mail, body: 'Hello' } }, 1, {
    '/template': '/fileContent',
    '/email/body': '/email/body'
  }],
  [['file', 'sms'], { template, sms: { phoneNumber: '+33612345678', template } }, 1, { '/template': '/sms/template' }],
  [['esign'], { template, signers, deferred: [{ on: 'esign.completed', service: 'email', ...mail, template }] }, 'later', {
    '/email/attachments/1': '/deferred/0/attachments/1',
    '/template/data/x': '/deferred/0/template/data/x'
  }]
]

void t.test('a place of a step is found in the body of the client, and where it belongs once that is gone', (t) => {
  for (const [path, body, which, places] of cases) {
    const { plan, details } = judgeChain(path, body)
    const name = JSON.stringify(body)
    if (plan === undefined) return t.fail(`${name}: ${JSON.stringify(details)}`)
    const step = which === 'later' ? plan.deferred[0] : plan.steps[which]
    if (step === undefined) return t.fail(name)
    t.strictSame(Object.keys(places).map(placesOf(plan, step)), Object.values(places), name)
    const { at: _, ...recorded } = step
    const all = { steps: plan.steps.map(({ at: _, ...one }) => one), deferred: plan.deferred.map(({ at: _, ...one }) => one) }
    t.equal(placesOf(all, recorded)(`/${step.service}/documents/0`),
      which === 'later' ? '/deferred/0/documents/0' : `/${step.service}/documents/0`)
  }
  t.end()
})

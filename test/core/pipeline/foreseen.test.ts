import t from 'tap'
import { Type } from '../../../core/packages/host/provider.ts'
import { refused } from '../../../core/packages/vendor-io/outcome/failure.ts'
import { has } from '../../support/matching.ts'
import { judge, judgeChain, type World } from './support.ts'

const signers = [{ email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace' }]
const limited = (...limits: object[]): World => ({ capabilities: { limits: JSON.parse(JSON.stringify(limits)) as never } })

await t.test('what a provider says that its vendor refuses is refused by validation, at its place in the client\'s body', (t) => {
  const number = limited({ at: '/data/number', fits: Type.String({ maxLength: 3 }), because: 'There is no room.' })
  const body = { template: { id: 1, data: { number: 'F-12' } }, documentType: 'INVOICE' }
  has(t, judge('invoicing', body, number), {
    word: 'validation_failed',
    details: [{
      path: '/template/data/number',
      code: 'not_supported_by_provider',
      message: 'The provider "acme" does not accept this. May have at most 3 characters. There is no room.'
    }]
  })
  t.same(judge('invoicing', { ...body, template: { id: 1, data: { number: 'F-1' } } }, number).problems, [])
  t.same(
    judge('invoicing', { ...body, settings: { label: 'abcd' } }, limited({ at: '/settings/label', fits: Type.String({ maxLength: 3 }) }))
      .problems,
    ['/settings/label not_supported_by_provider']
  )
  t.same(
    judge('sms', { sms: { phoneNumber: '+33612345678', message: 'Hello' }, metadata: { order: 'A-1001' } },
      limited({ at: '/metadata/*', fits: Type.String({ maxLength: 3 }) })).problems,
    ['/metadata/order not_supported_by_provider']
  )
  t.same(
    judge('email', { from: 'a@example.com', to: 'b@example.com', subject: 'Long', body: 'x' },
      limited({ at: '/email/subject', fits: Type.String({ maxLength: 3 }) })).problems,
    ['/subject not_supported_by_provider']
  )
  t.end()
})

await t.test('a field stands where the client wrote it, with its default where it did not', (t) => {
  const days = limited({ at: '/esign/expiresInDays', fits: Type.Integer({ maximum: 20 }) })
  const template = { id: 1, data: {} }
  t.same(judge('esign', { template, signers }, days).problems, ['/esign/expiresInDays not_supported_by_provider'])
  t.same(judge('esign', { template, signers, esign: { expiresInDays: 20 } }, days).problems, [])
  const name = limited({ at: '/esign/signers/*/lastName', fits: Type.String({ maxLength: 3 }) })
  t.same(judge('esign', { template, signers }, name).problems, ['/signers/0/lastName not_supported_by_provider'])
  t.same(judge('esign', { template, esign: { signers } }, name).problems, ['/esign/signers/0/lastName not_supported_by_provider'])
  t.end()
})

await t.test('each step of a chain has the limits of its own provider', (t) => {
  const world: World = { byService: { postal: { limits: [{ at: '/postal/recipient/name', fits: { maxLength: 2 } }] } } }
  const recipient = { name: 'Ada', address: '1 rue', city: 'Paris', postalCode: '75002', country: 'FR' }
  t.same(
    judgeChain(['invoicing', 'postal'], { template: { id: 1, data: {} }, documentType: 'INVOICE', postal: { recipient } }, world).problems,
    ['/postal/recipient/name not_supported_by_provider']
  )
  t.end()
})

await t.test('a check of a provider says what no limit can', (t) => {
  const body = { template: { id: 1, data: { number: 'F-1' } }, documentType: 'INVOICE' }
  const seen: unknown[] = []
  const objecting: World = {
    foreseeing: (requested, known) => {
      seen.push(requested, known)
      return [{ at: '/data/number', code: 'taken', message: 'Taken.' }]
    },
    settings: { allowedSenders: ['@a.example'] }
  }
  has(t, judge('invoicing', body, objecting), {
    word: 'validation_failed',
    details: [{ path: '/template/data/number', code: 'taken', message: 'The provider "acme" does not accept this. Taken.' }]
  })
  t.same(seen, [
    { invoicing: { documentType: 'INVOICE' }, data: { number: 'F-1' }, metadata: {} },
    { settings: { allowedSenders: ['@a.example'] }, requestSettings: {}, sandbox: false, now: new Date('2026-03-14T09:30:00.000Z') }
  ], 'it is given what the vendor will be asked, and nothing secret')
  t.same(judge('invoicing', body, {
    foreseeing: () => {
      throw refused('taken', 'Taken.', '/data/number')
    }
  }).problems, ['/template/data/number taken'], 'by throwing as well')
  t.throws(() =>
    judge('invoicing', body, {
      foreseeing: () => {
        throw new TypeError('x')
      }
    }), TypeError, 'a fault of the provider is no fault of the request')
  t.same(judge('invoicing', body, { ...objecting, settings: null }).problems, ['/providerName configuration_missing'],
    'without a configuration nobody asks it')
  t.end()
})

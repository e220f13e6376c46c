import t from 'tap'
import { has } from '../../../../test/support/matching.ts'
import { checkGiven, type Enclosed, givenDocument, largestJoined } from '../enclosures.ts'
import { esign } from '../esign/index.ts'

const at = (field: string): string => `/esign/${field}`

/** A document that a request names; `size` in bytes. */
function named (field: string, { size = 1000, signed = false, index }: { size?: number, signed?: boolean, index?: number } = {}): Enclosed {
  const document = { id: '01929f3c-6a1b-7c44-9f0e-2d5b8a7c1e90', filename: 'a.pdf', contentType: 'application/pdf', size, sha256: '' }
  const pages = [{ width: 595, height: 842, plain: true }]
  return { field, document, pdf: { ok: true, pages, signed }, ...index === undefined ? {} : { index } }
}

void t.test('what a step takes over counts with what follows it', (t) => {
  const [given, further] = [named(givenDocument, { size: largestJoined }), named('documents', { index: 0 })]
  t.same(checkGiven([further], at), [])
  has(t, checkGiven([further], at, { given }), [{ path: '/esign/documents', code: 'too_large' }])
  const larger = named(givenDocument, { size: largestJoined + 1 })
  t.same(checkGiven([], at, { given: larger }), [], 'alone it may be larger')
  has(t, checkGiven([], at, { given: larger, signing: true }), [{ path: '/document', code: 'too_large' }], 'unless it is signed')
  t.end()
})

void t.test('a signed document is not signed again, wherever its path begins', (t) => {
  const { problems = [] } = esign.check({
    fields: {
      signers: [{ email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace' }],
      places: [{ signer: 1, page: 1, x: 72, y: 600 }]
    },
    at,
    data: {},
    template: {},
    provider: undefined,
    given: named(givenDocument, { signed: true }),
    today: '2026-03-14',
    otherServices: ['file']
  })
  has(t, problems, [{ path: '/document', code: 'signed_pdf' }])
  t.end()
})

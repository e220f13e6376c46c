import fc from 'fast-check'
import t from 'tap'
import type { Json, JsonObject } from '../../common/json.ts'
import { DispatchError } from '../errors.ts'
import { createRequestReader } from '../request/request.ts'

const read = createRequestReader(['invoicing'])
const body = (more: object = {}): object => ({ documentType: 'INVOICE', template: { id: 1, data: { number: 'F-1' } }, ...more })

await t.test('a request is read with every field in its one place, and what was left out filled in', (t) => {
  const { steps: [step], ...request } = read(body({ providerName: 'acme', invoicing: { reference: 'R' }, sendByEmail: true }))
  t.strictSame(request, { services: ['invoicing'], metadata: {}, deferred: [] })
  t.strictSame({ ...step, at: undefined }, {
    service: 'invoicing',
    fields: { documentType: 'INVOICE', sendByEmail: true, reference: 'R' },
    template: { id: 1, data: { number: 'F-1' }, path: '/template/data' },
    providerName: 'acme',
    settings: {},
    at: undefined
  })
  t.strictSame(['documentType', 'sendByEmail', 'reference', 'dueDate'].map((field) => step?.at(field)), [
    '/documentType',
    '/sendByEmail',
    '/invoicing/reference',
    '/invoicing/dueDate'
  ])
  t.end()
})

await t.test('a field is pointed at where the client wrote it', (t) => {
  const [step] = read({ template: { id: 1, data: {} }, invoicing: { documentType: 'QUOTE' } }).steps
  t.equal(step?.at('documentType'), '/invoicing/documentType')
  t.equal(step?.at('sendByEmail'), '/sendByEmail')
  t.equal(step?.at('providerName'), '/providerName')
  t.end()
})

await t.test('the bounds of the fields hold exactly', (t) => {
  const bounds: [string, string, number][] = [
    ['invoicing', 'paymentTerms', 500],
    ['invoicing', 'customerId', 200],
    [
      'invoicing',
      'reference',
      200
    ]
  ]
  for (const [object, field, max] of bounds) {
    for (const [length, ok] of [[0, false], [1, true], [max, true], [max + 1, false]] as const) {
      t.equal(passes(body({ [object]: { [field]: 'x'.repeat(length) } })), ok, `${field} of ${length}`)
    }
  }
  for (const [id, ok] of [
    [1, true],
    [2_147_483_647, true],
    [0, false],
    [-1, false],
    [2_147_483_648, false],
    [1.5, false],
    ['1', false],
    [null, false]
  ] as const) {
    t.equal(passes(body({ template: { id, data: {} } })), ok, `template ${String(id)}`)
  }
  for (const [code, ok] of [
    ['ab', true],
    [`a${'b'.repeat(40)}`, true],
    ['a', false],
    [`a${'b'.repeat(41)}`, false],
    ['Ab', false],
    [
      '1a',
      false
    ],
    ['a_b', false],
    ['a-1', true]
  ] as const) {
    t.equal(passes(body({ providerName: code })), ok, `provider ${code}`)
  }
  t.end()
})

function passes (request: object): boolean {
  try {
    read(request)
    return true
  } catch (error) {
    if (error instanceof DispatchError && error.word === 'validation_error') return false
    throw error
  }
}

const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>

await t.test('whatever JSON comes, it is read or refused with problems that point into it', (t) => {
  const fields = ['documentType', 'template', 'metadata', 'settings', 'callbackUrl', 'invoicing', 'providerName', 'sendByEmail', 'other']
  const requests = fc.oneof(json, fc.dictionary(fc.constantFrom(...fields), json), json.map((data) => body({ template: { id: 1, data } })))
  fc.assert(fc.property(requests, (request) => {
    try {
      const [step] = read(request).steps
      t.strictSame(step?.template?.data, (request as { template: { data: JsonObject } }).template.data)
      t.ok(step?.fields['documentType'])
    } catch (error) {
      if (!(error instanceof DispatchError)) throw error
      t.equal(error.word, 'validation_error')
      t.ok(error.details?.every(({ path, code, message }) => (path === '' || path.startsWith('/')) && code !== '' && message !== ''))
    }
  }), { numRuns: 300 })
  t.end()
})

import fc from 'fast-check'
import t from 'tap'
import { shipped } from '../../../../test/templates/shipped.ts'
import type { JsonObject } from '../../common/json.ts'
import { compileJsonSchema } from '../../common/schema.ts'
import { eInvoiceFileFormats } from '../../documents/formats/file-formats.ts'
import { RenderError } from '../../documents/model/errors.ts'
import { made } from '../../documents/test/support.ts'
import { checkEInvoiceWords, checkInvoice } from '../../services/invoicing/invoice.ts'
import { eInvoiceOf } from '../write/write.ts'
import { invoices } from './arbitrary.ts'
import { reported } from './support.ts'

const today = '2026-03-14'

/** What keeps data from becoming a document, but for letters that the fonts do not have. */
function faultsOf (error: unknown): string[] {
  if (!(error instanceof RenderError)) throw error
  return error.problems.filter(({ code }) => code !== 'unsupported_characters').map(({ path, code, message }) =>
    `${path} ${code} ${message}`
  )
}

function resolving (run: () => unknown): string[] {
  try {
    run()
    return []
  } catch (error) {
    return faultsOf(error)
  }
}

void t.test('what the rules of e-invoices pass can be shown', async (t) => {
  const { compiled, schema } = await shipped('e-invoice')
  const fits = compileJsonSchema(schema)
  let passed = 0
  fc.assert(fc.property(invoices, (given) => {
    const data = given as JsonObject
    if (!fits(data).ok || reported(data, 'FACTUR_X').length > 0 || checkEInvoiceWords({ data, today }).problems?.length !== 0) return
    passed++
    t.strictSame(resolving(() => compiled.resolve(eInvoiceOf(data, { format: 'FACTUR_X', currency: 'EUR' }).data())), [])
  }), { numRuns: 200 })
  t.ok(passed > 20, `${passed} of 200 passed the rules`)
})

void t.test('what the rules of e-invoices pass becomes a file in every format', async (t) => {
  const { compiled } = await shipped('e-invoice')
  const formats = Object.keys(eInvoiceFileFormats) as (keyof typeof eInvoiceFileFormats)[]
  await fc.assert(fc.asyncProperty(invoices, fc.constantFrom(...formats), async (given, format) => {
    const data = given as JsonObject
    if (reported(data, eInvoiceFileFormats[format]).length > 0) return
    t.strictSame(await made(format, compiled, data).then(() => [], faultsOf), [])
  }), { numRuns: 60 })
})

for (const folder of ['invoice', 'quote', 'credit-note']) {
  void t.test(`${folder}: what the rules of invoices pass can be shown`, async (t) => {
    const { compiled, schema } = await shipped(folder)
    const fits = compileJsonSchema(schema)
    let passed = 0
    fc.assert(fc.property(invoices, (given) => {
      const { customer, ...sums } = eInvoiceOf(given, { format: 'FACTUR_X', currency: 'EUR' }).data()
      const data = { ...sums, customer: { ...customer as JsonObject, email: 'a@example.com' }, validUntil: '2031-01-01' }
      const { problems = [] } = checkInvoice({ data, template: {}, today })
      if (!fits(data).ok || problems.length > 0) return
      passed++
      t.strictSame(resolving(() => compiled.resolve(data)), [])
    }), { numRuns: 200 })
    t.ok(passed > 40, `${passed} of 200 passed the rules`)
  })
}

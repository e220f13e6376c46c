import { realpath } from 'node:fs/promises'
import t from 'tap'
import type { JsonObject } from '../../core/packages/common/json.ts'
import { readFixtures } from '../../core/packages/conformance/fixtures/fixtures.ts'
import { prepareQuestion, prepareSend } from '../../core/packages/conformance/run/prepare.ts'
import { run } from '../../core/packages/conformance/run/run.ts'
import { createVendorDouble } from '../../core/packages/conformance/run/vendor-double.ts'
import type { ReceivedRequest } from '../../core/packages/conformance/vendor/requests.ts'
import { loadProvider } from '../../core/packages/host/load/load.ts'
import { type FormFields, formPairs } from '../../core/packages/vendor-io/http/form.ts'
import { absent, type Example, examplesOf, vendorApi } from '../support/vendor-api.ts'
import { described } from '../support/vendor-apis.ts'

/** Rules about a number in place of a text: on the wire it has become one, and fits. */
const lostOnTheWire = ['PostCustomers: metadata value is a number', 'PostInvoicesInvoiceSend: expand with a number']

/** An example as a vendor would get it. */
function received ({ method, host, path, mediaType }: Example, body: JsonObject): ReceivedRequest {
  const request = {
    method: method.toUpperCase(),
    host,
    path,
    query: {},
    search: [],
    // Examples have bodies alone; the organisation is said with every request to Xero.
    headers: { 'content-type': mediaType, 'xero-tenant-id': 'organisation' },
    body: Buffer.from(JSON.stringify(body))
  }
  if (mediaType === 'application/json') return { ...request, json: body }
  const pairs = formPairs(body as FormFields, 'indexed')
  if (mediaType === 'multipart/form-data') return { ...request, parts: pairs.map(([name, text]) => ({ name, body: Buffer.from(text) })) }
  return { ...request, body: Buffer.from(new URLSearchParams(pairs).toString()), pairs }
}

for (const [vendor, { place, hosts }] of Object.entries(described)) {
  const api = await vendorApi(vendor, hosts)
  await t.test(`the check against ${vendor}'s own description takes what the vendor takes, and nothing that it refuses`, {
    skip: api === undefined && absent
  }, async (t) => {
    for (const example of await examplesOf(vendor)) {
      for (const { name, body } of example.accept) t.same(api?.problems(received(example, body)), [], `${example.operationId}: ${name}`)
      for (const { name, body } of example.reject) {
        const [wrong, what] = [api?.problems(received(example, body)) ?? [], `${example.operationId}: ${name}`]
        t.equal(wrong.length > 0, !lostOnTheWire.includes(what), what)
      }
    }
  })

  await t.test(`every request of ${vendor}'s fixtures fits the vendor's own description`, { skip: api === undefined && absent },
    async (t) => {
      const folder = await realpath(new URL(`../../providers/${place}`, import.meta.url).pathname)
      const provider = await loadProvider(folder, 'as it is', 10)
      const { sends, questions } = await readFixtures(folder)
      const stage = await createVendorDouble()
      t.teardown(() => stage.close())
      // What registers a webhook is not in the trimmed descriptions.
      const calls = [...sends.map((named) => prepareSend(provider, named)), ...questions.filter(({ name }) =>
        !/^(?:un)?subscribe/.test(name)
      ).map((named) => prepareQuestion(provider, named))]
      for (const { name, call } of calls) {
        const { requests } = await run(provider, stage, call, { limit: 10_000, endLimit: 2_000 })
        t.equal(requests.length, call.exchange.length, name)
        for (const { request } of requests) t.same(api?.problems(request), [], `${name}: ${request.method} ${request.path}`)
      }
      t.ok(calls.some(({ call }) => call.exchange.length > 0))
    })
}

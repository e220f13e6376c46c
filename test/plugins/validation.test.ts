import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { clockAt } from '../support/clock.ts'
import { has } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { type Answer, invoiceRequest, startService } from '../support/service.ts'
import { accepts, testProviders } from './support/providers.ts'

/** What must not happen in a validation. */
const done: string[] = []
const providers = await testProviders(t)
await providers.add('watched', { requestSettings: '{ copies: Type.Integer({ minimum: 1 }) }' }, (request, call) => {
  done.push('called')
  return accepts(request, call)
})
const service = await startService(t, {
  config: { providerDirectories: providers.directories },
  replacements: {
    now: clockAt('2026-02-10T09:30:00Z').now,
    renderer: {
      ...quickRenderer,
      render (job) {
        done.push('rendered')
        return quickRenderer.render(job)
      }
    }
  }
})
await service.send('PUT', '/api/v1/company/providers/watched', { body: { settings: {} } })

const validate = (body: unknown): Promise<Answer> => service.send('POST', '/api/invoicing/validate', { body })
const dispatch = (body: unknown): Promise<Answer> => service.send('POST', '/api/invoicing', { body })
const warned = ({ body }: Answer): string[] => body.warnings.map(({ path, code }: { path: string, code: string }) => `${path} ${code}`)

await t.test('a validation calls no provider, renders nothing, records nothing, stores nothing and charges nothing', async (t) => {
  const state = async (): Promise<unknown> => ({
    credits: (await service.send('GET', '/api/v1/credits')).body,
    dispatches: (await service.send('GET', '/api/v1/dispatches')).body,
    files: await readdir(join(service.app.get('config').dataDirectory, 'files'), { recursive: true }).catch(() => []),
    done: [...done]
  })
  const before = await state()
  const request = invoiceRequest({}, { providerName: 'watched', settings: { copies: 2 } })
  t.equal((await validate(request)).status, 200)
  t.equal((await validate({ ...request, documentType: 'QUOTE' })).status, 422)
  t.strictSame(await state(), before)
  t.equal((await dispatch(request)).status, 200)
  t.strictSame(done, ['rendered', 'called'])
})

await t.test('what passes with a warning is a 200, and is dispatched all the same', async (t) => {
  const cases: [string, Record<string, unknown>, string[]][] = [
    [
      'a due date in the past',
      invoiceRequest({ date: '2026-01-01', dueDate: '2026-02-01' }),
      ['/template/data/dueDate due_date_in_the_past']
    ],
    [
      'a due date of the request in the past',
      invoiceRequest({ date: '2026-01-01' }, { invoicing: { dueDate: '2026-02-01' } }),
      ['/invoicing/dueDate due_date_in_the_past']
    ],
    ['a field that the template does not show', invoiceRequest({ colour: 'red' }), ['/template/data/colour unused_field']],
    [
      'such a field inside',
      invoiceRequest({ customer: { name: 'Ada', nick: { name: 'A' } } }),
      ['/template/data/customer/nick unused_field']
    ],
    [
      'such a field in a line, told once',
      invoiceRequest({
        lines: [
          { description: 'a', quantity: 1, unitPrice: 450, total: 450, sku: 'S1' },
          { description: 'b', quantity: 1, unitPrice: 450, total: 450, sku: 'S2' }
        ]
      }),
      ['/template/data/lines/0/sku unused_field']
    ],
    ['a template made for another document type', invoiceRequest({}, { documentType: 'QUOTE' }), ['/documentType other_document_type']],
    [
      'a template made for another document type, said inside',
      invoiceRequest({}, { documentType: undefined, invoicing: { documentType: 'CREDIT' } }),
      ['/invoicing/documentType other_document_type']
    ],
    [
      'all together',
      invoiceRequest({ date: '2026-01-01', dueDate: '2026-02-01', colour: 'red' }, { documentType: 'QUOTE' }),
      ['/template/data/dueDate due_date_in_the_past', '/template/data/colour unused_field', '/documentType other_document_type']
    ]
  ]
  for (const [name, request, warnings] of cases) {
    const answer = await validate(request)
    has(t, answer, { status: 200, body: { success: true, result: 'warning' } }, name)
    t.strictSame(warned(answer), warnings, name)
    t.equal((await dispatch(request)).status, 200, name)
  }
})

await t.test('the samples of the shared templates pass', async (t) => {
  for (const [id, folder, documentType] of [[1, 'invoice', 'INVOICE'], [2, 'quote', 'QUOTE'], [3, 'credit-note', 'CREDIT']] as const) {
    const data: unknown = JSON.parse(await readFile(new URL(`../../templates/${folder}/sample.json`, import.meta.url), 'utf8'))
    has(t, await validate({ documentType, template: { id, data } }), {
      status: 200,
      body: { result: 'success', warnings: [], plan: [{ documentType }] }
    })
  }
})

await t.test('the provider\'s part is validated: document types, e-mail, required data, request settings', async (t) => {
  const cases: [Record<string, unknown>, Record<string, unknown>, string[]][] = [
    [{}, { documentType: 'QUOTE' }, ['/documentType not_supported_by_provider']],
    [{}, { sendByEmail: true }, ['/sendByEmail not_supported_by_provider']],
    [{}, { invoicing: { sendByEmail: true } }, ['/invoicing/sendByEmail not_supported_by_provider']],
    [{}, { settings: {} }, ['/settings/copies required']],
    [{}, { settings: { copies: 0 } }, ['/settings/copies too_small']]
  ]
  for (const [data, more, problems] of cases) {
    const { status, body } = await validate(invoiceRequest(data, { providerName: 'watched', settings: { copies: 1 }, ...more }))
    t.equal(status, 422)
    t.strictSame(body.details.map(({ path, code }: { path: string, code: string }) => `${path} ${code}`), problems)
  }
})

await t.test('a validation says what the dispatch then does', async (t) => {
  const request = invoiceRequest()
  const { body: { plan: [planned] } } = await validate(request)
  const sent = await dispatch(request)
  has(t, sent.body, { service: planned.service, providerName: planned.providerName })
  const { body } = await service.send('GET', `/api/v1/dispatches/${sent.body.dispatchId}`)
  has(t, body, { documentType: planned.documentType, creditsCharged: planned.credits, steps: [{ chosenBy: planned.chosenBy }] })
})

await t.test('a refused validation has the status, word and details of the dispatch', async (t) => {
  const refused = [
    { template: { id: 1 } },
    { ...invoiceRequest(), template: { id: 999, data: {} } },
    invoiceRequest({ total: 1 }),
    invoiceRequest({}, { providerName: 'nobody' })
  ]
  for (const request of refused) {
    const [one, other] = [await validate(request), await dispatch(request)]
    t.equal(one.status, other.status)
    t.strictSame({ ...one.body, requestId: '' }, { ...other.body, requestId: '', result: 'error' })
  }
})

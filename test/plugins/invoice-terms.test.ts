import t from 'tap'
import { wordsOf } from '../../core/packages/documents/test/support.ts'
import { contains, has } from '../support/matching.ts'
import { type Answer, invoiceRequest, startService } from '../support/service.ts'

const service = await startService(t)
const send = (path: string, body: unknown): Promise<Answer> => service.send('POST', path, { body })

await t.test('a due date and terms of payment that stand in "invoicing" alone are on the page', async (t) => {
  const { status, body } = await send('/api/invoicing', invoiceRequest({}, {
    invoicing: { dueDate: '2099-04-13', paymentTerms: 'Within a month of the moon' }
  }))
  t.equal(status, 200)
  const { pathname, search } = new URL(body.generatedDocument.url)
  const document = await fetch(`${service.url}${pathname}${search}`)
  const words = await wordsOf({ bytes: new Uint8Array(await document.arrayBuffer()) })
  contains(t, words, /Within a month of the moon/)
  contains(t, words, /2099/)
})

await t.test('in both places they must be the same: the answer names both', async (t) => {
  const body = invoiceRequest({ dueDate: '2099-04-14', paymentTerms: 'Now' }, {
    invoicing: { dueDate: '2099-04-13', paymentTerms: 'Later' }
  })
  for (const path of ['/api/invoicing', '/api/invoicing/validate']) {
    const { status, body: { error, details } } = await send(path, body)
    t.same({ status, error }, { status: 422, error: 'validation_failed' })
    has(t, details.map(({ path: place, code }: { path: string, code: string }) => `${place} ${code}`), [
      '/invoicing/dueDate contradiction',
      '/template/data/dueDate contradiction',
      '/invoicing/paymentTerms contradiction',
      '/template/data/paymentTerms contradiction'
    ])
  }
  const same = invoiceRequest({ dueDate: '2099-04-13' }, { invoicing: { dueDate: '2099-04-13' } })
  t.equal((await send('/api/invoicing/validate', same)).status, 200)
})

await t.test('a setting that the provider knows for another service is an unknown field', async (t) => {
  const sms = { phoneNumber: '+33612345678', message: 'Hello' }
  for (const path of ['/api/sms', '/api/sms/validate']) {
    has(t, await send(path, { sms, settings: { includePaymentCollectionLink: true } }), {
      status: 422,
      body: {
        details: [{ path: '/settings/includePaymentCollectionLink', code: 'unknown_field', message: /for invoicing, and not for sms/ }]
      }
    })
  }
  t.equal((await send('/api/invoicing/validate', invoiceRequest({}, { settings: { includePaymentCollectionLink: true } }))).status, 200)
})

await t.test('a key of metadata is any text of 50 characters but __proto__', async (t) => {
  const metadata = { constructor: 'a', prototype: 'b', toString: 'c', hasOwnProperty: 'd' }
  const { status, body } = await send('/api/invoicing', invoiceRequest({}, { metadata }))
  t.equal(status, 200)
  t.same(Object.entries(body.metadata as object), Object.entries(metadata))
  const found = (await service.send('GET', '/api/v1/dispatches?metadata[constructor]=a')).body.data
  t.same(found.map(({ dispatchId }: { dispatchId: string }) => dispatchId), [body.dispatchId])
})

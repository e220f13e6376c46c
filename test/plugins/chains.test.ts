import { chains } from '@dispatch/contract'
import { type ServiceName, serviceNames } from '@dispatch/services'
import t from 'tap'
import { chainBody } from '../support/chains.ts'
import { contains, has, lacks } from '../support/matching.ts'
import { resolved } from '../support/openapi.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { type Answer, invoiceRequest, startService } from '../support/service.ts'

const service = await startService(t, { replacements: { renderer: quickRenderer } })
const bodyOf = (path: readonly ServiceName[], more: Record<string, unknown> = {}): Record<string, unknown> =>
  chainBody(path, invoiceRequest()['template'], more)
const validate = (path: readonly ServiceName[], body: unknown): Promise<Answer> =>
  service.send('POST', `/api/${path.join('/')}/validate`, { body })

await t.test('every chain of the table can be validated: the plan has each step, its provider and its price', async (t) => {
  for (const path of chains) {
    const { status, body } = await validate(path, bodyOf(path, { metadata: { orderId: 'A-1' } }))
    t.equal(status, 200, path.join('/'))
    t.strictSame(body, {
      success: true,
      result: 'success',
      warnings: [],
      plan: path.map((name) => ({
        service: name,
        ...(name === 'file' ? {} : { providerName: 'simulator', chosenBy: 'company' }),
        ...(name === 'invoicing' ? { documentType: 'INVOICE' } : {}),
        credits: name === 'invoicing' ? 1 : 0
      })),
      metadata: { orderId: 'A-1' }
    })
  }
})

await t.test('every other path of two services is an unknown chain, whose answer says what may follow', async (t) => {
  const known = new Set(chains.map((path) => path.join('/')))
  for (const path of serviceNames.flatMap((first) => serviceNames.map((second) => [first, second])).filter((pair) =>
    !known.has(pair.join('/'))
  )) {
    for (const url of [`/api/${path.join('/')}`, `/api/${path.join('/')}/validate`]) {
      const { status, body } = await service.send('POST', url, { body: {} })
      has(t, { status, body }, {
        status: 404,
        body: { error: 'unknown_chain', message: / cannot follow .*(there may follow|nothing may follow)/ }
      }, url)
    }
  }
})

await t.test('an unknown chain is one before its body is looked at, whoever asks with credentials', async (t) => {
  has(t, await service.send('POST', '/api/file/invoicing', { body: 'no JSON' }), { status: 404, body: { error: 'unknown_chain' } })
  has(t, await service.send('POST', '/api/file/invoicing/validate?async=perhaps', { body: {} }), {
    status: 404,
    body: { error: 'unknown_chain', result: 'error' }
  })
  has(t, await service.send('POST', '/api/file/invoicing', { body: {} }, null), { status: 401 })
  for (const path of ['/api/v1/dispatches', '/api/v1/nothing/validate', '/api/webhooks/esign', '/api/v1/nothing/more/here']) {
    has(t, await service.send('POST', path, { body: {} }), { status: 404, body: { error: 'not_found' } }, path)
  }
})

await t.test('a chain needs the permission for every service in it, now or later', async (t) => {
  const { member } = await service.company('some', { services: ['file', 'esign', 'email'] })
  const asMember = (path: readonly ServiceName[], more?: Record<string, unknown>): Promise<Answer> =>
    service.send('POST', `/api/${path.join('/')}/validate`, { body: { ...bodyOf(path, more), template: { id: 999, data: {} } } }, member)
  has(t, await asMember(['file', 'email']), { status: 404, body: { error: 'template_not_found' } })
  for (const path of [['file', 'sms'], ['postal', 'email'], ['file', 'email', 'upload']] as const) {
    has(t, await asMember(path), { status: 403, body: { error: 'forbidden' } }, path.join('/'))
  }
  has(t, await asMember(['file', 'esign'], { deferred: [{ on: 'esign.completed', service: 'upload' }] }), {
    status: 403,
    body: { error: 'forbidden', message: /"upload"/ }
  })
})

await t.test('a template of a later step must exist too', async (t) => {
  const sms = { phoneNumber: '+33612345678', template: { id: 999, data: {} } }
  has(t, await validate(['file', 'sms'], bodyOf(['file', 'sms'], { sms })), { status: 404, body: { error: 'template_not_found' } })
})

await t.test('each step has its own provider, and says so where it cannot', async (t) => {
  const { status, body } = await validate(['invoicing', 'upload'], bodyOf(['invoicing', 'upload'], { upload: { providerName: 'nobody' } }))
  has(t, { status, body }, {
    status: 422,
    body: { error: 'configuration_missing', result: 'error', details: [{ path: '/upload/providerName' }] }
  })
  const named = await validate(['invoicing', 'upload'], bodyOf(['invoicing', 'upload'], { upload: { providerName: 'simulator' } }))
  has(t, named.body.plan, [{ chosenBy: 'company' }, { chosenBy: 'request' }])
})

await t.test('deferred steps stand in the plan with the event that they wait for', async (t) => {
  const { status, body } = await validate(['esign', 'sms'],
    bodyOf(['esign', 'sms'], { deferred: [{ on: 'esign.completed', service: 'upload' }] }))
  t.equal(status, 200)
  t.strictSame(body.plan.at(-1), { service: 'upload', providerName: 'simulator', chosenBy: 'company', credits: 0, on: 'esign.completed' })
})

await t.test('the documentation has every chain: those of two services at their own routes, longer ones in words at ' +
  'the route of their length', async (t) => {
  const { body: document } = await service.send('GET', '/openapi.json', {}, null)
  const answer = (path: string, status: string): any => resolved(document, document.paths[path].post.responses[status])
  for (const path of chains.filter(({ length }) => length === 2).map((chain) => `/api/${chain.join('/')}`)) {
    t.ok(`${path}/validate` in document.paths, path)
    contains(t, answer(path, '4XX').description, /partially_dispatched/)
    lacks(t, answer(path, '4XX').description, /unknown_chain/, 'it is one')
  }
  t.notOk('/api/{first}/{second}' in document.paths)
  for (const [length, path] of [[3, '/api/{first}/{second}/{third}'], [4, '/api/{first}/{second}/{third}/{fourth}']] as const) {
    const { description, parameters } = document.paths[path].post
    contains(t, description, new RegExp(`: ${chains.filter((chain) => chain.length === length).length} chains of ${length} services`))
    const places = parameters.map((parameter: unknown) => resolved(document, parameter)).filter((parameter: any) => parameter.in === 'path')
    t.strictSame(toldBy(description, places), chains.filter((chain) => chain.length === length).map((chain) => chain.join('/')).sort(),
      path)
    t.ok(`${path}/validate` in document.paths)
    contains(t, answer(path, '4XX').description, /partially_dispatched/)
    contains(t, answer(path, '4XX').description, /unknown_chain/)
  }
})

/** The chains that the words of a description mean, of the services that may stand at each place. */
function toldBy (description: string, places: { schema: { enum: string[] } }[]): string[] {
  const [, first, next, last] =
    (/The first service must be one of (.*); the next ones are others of (.*), no service twice, and none after (.*): \d/.exec(
      description
    ) ?? []).map((words) => [...words.matchAll(/`(\w+)`/g)].map(([, name]) => name!))
  const named = [first ?? [], ...places.slice(1).map(() => next ?? [])]
  const isSaid = (path: string[]): boolean =>
    new Set(path).size === path.length && path.slice(0, -1).every((name) => last?.includes(name) === false)
  for (const [index, { schema }] of places.entries()) t.strictSame(schema.enum, named[index])
  return named.reduce<string[][]>((paths, names) => paths.flatMap((path) => names.map((name) => [...path, name])), [[]]).filter(isSaid).map(
    (path) => path.join('/')
  ).sort()
}

import t from 'tap'
import { judgeChain, judgeRequest, readerFor, template } from '../../../../test/core/pipeline/support.ts'
import { chainBody, continuations } from '../../../../test/support/chains.ts'
import { has } from '../../../../test/support/matching.ts'
import { needsProvider, services } from '../../services/lists.ts'
import { type ServiceName, serviceNames } from '../../services/names.ts'
import { chains } from '../request/chains.ts'
import type { DispatchRequest } from '../request/request.ts'

const read = (path: readonly ServiceName[], more: Record<string, unknown> = {}): DispatchRequest =>
  readerFor(path)(chainBody(path, template, more))
const without = (body: Record<string, unknown>, field: string): Record<string, unknown> =>
  Object.fromEntries(Object.entries(body).filter(([name]) => name !== field))
const problems = (path: readonly ServiceName[], more: Record<string, unknown> = {}): string[] =>
  judgeChain(path, chainBody(path, template, more)).problems

await t.test('every chain of the table is read: each step has its own fields, the first one the template', (t) => {
  for (const path of chains) {
    const { steps, deferred } = read(path)
    t.strictSame(steps.map(({ service }) => service), path)
    t.strictSame(steps.map((step) => step.template !== undefined), path.map((_name, index) => index === 0), path.join('/'))
    for (const { service, fields } of steps) {
      t.strictSame(services[service].required.filter((name) => fields[name] === undefined), [], path.join('/'))
    }
    t.strictSame(deferred, [])
  }
  t.end()
})

await t.test('every chain says what each of its services lacks, in that service\'s place', (t) => {
  for (const path of chains) {
    const lacking = path.flatMap((name) =>
      services[name].required.map((field) => `${services[name].topLevelFields.includes(field) ? '' : `/${name}`}/${field} required`)
    )
    const found = judgeChain(path, { template }).problems
    t.strictSame(lacking.filter((problem) => !found.includes(problem)), [], path.join('/'))
  }
  t.end()
})

await t.test('the object of a service that is not in the path is refused', (t) => {
  for (const path of chains) {
    for (const other of serviceNames.filter((name) => !path.includes(name))) {
      t.strictSame(problems(path, { [other]: {} }), [`/${other} unknown_field`], path.join('/'))
    }
  }
  t.end()
})

await t.test('the top serves the first step that needs a provider, every other has its own choice', (t) => {
  for (const path of chains) {
    const [first, ...others] = path.filter(needsProvider)
    const own = Object.fromEntries(
      others.map(
        (name) => [name, { ...continuations[name]?.[name] as object | undefined, providerName: `own-${name}`, settings: { label: name } }]
      )
    )
    const chosen = new Map(
      read(path, { providerName: 'top', settings: { label: 'top' }, ...own }).steps.map((step) => [step.service, step])
    )
    has(t, chosen.get(first ?? 'file'), { providerName: 'top', settings: { label: 'top' } }, path.join('/'))
    t.equal(chosen.get(first ?? 'file')?.at('providerName'), '/providerName')
    for (const name of others) {
      has(t, chosen.get(name), { providerName: `own-${name}`, settings: { label: name } }, path.join('/'))
      t.equal(chosen.get(name)?.at('settings'), `/${name}/settings`)
    }
    const { providerName, settings } = read(path).steps.at(-1) ?? {}
    t.strictSame([providerName, settings], [undefined, {}])
  }
  t.end()
})

await t.test('the first of them has no second place for its choice, and a service that needs no provider none at all', (t) => {
  t.strictSame(problems(['invoicing', 'email'], { invoicing: { providerName: 'acme' } }), ['/invoicing/providerName unknown_field'])
  t.strictSame(problems(['file', 'upload'], { upload: { settings: {} } }), ['/upload/settings unknown_field'])
  t.strictSame(problems(['file', 'sms'], { file: { providerName: 'acme' } }), ['/file/providerName unknown_field'])
  t.strictSame(problems(['invoicing', 'upload'], { upload: { providername: 'acme' } }), ['/upload/providername unknown_field'])
  has(t, judgeChain(['invoicing', 'upload'], chainBody(['invoicing', 'upload'], template, { upload: { providername: 'acme' } })).details, [{
    message: 'Unknown field "providername" (did you mean "providerName"?).'
  }])
  t.strictSame(problems(['invoicing', 'upload'], { upload: { folder: 'x' } }), ['/upload/folder unknown_field'])
  t.strictSame(problems(['invoicing', 'upload'], { upload: {} }), [])
  t.end()
})

await t.test('lifted fields may stand at the top or inside, wherever the service stands in the path', (t) => {
  const { signers } = continuations.esign ?? {}
  for (const path of [['esign', 'upload'], ['invoicing', 'esign'], ['file', 'postal', 'esign']] as const) {
    t.strictSame(judgeChain(path, { ...without(chainBody(path, template), 'signers'), esign: { signers } }).problems, [])
    t.strictSame(problems(path, { esign: { signers: [] } }), ['/esign/signers too_few', '/esign/signers contradiction'])
  }
  t.strictSame(problems(['file', 'email'], { from: 'demo@example.com' }), ['/from unknown_field'], 'an e-mail\'s only where it is alone')
  t.end()
})

await t.test('a chain that begins with a file may name its template, no other may', (t) => {
  const fileContent = { templateName: 'Sample', data: { number: 'F-1' } }
  const body = without(chainBody(['file', 'email'], template), 'template')
  has(t, readerFor(['file', 'email'])({ ...body, fileContent }).steps, [
    { template: { name: 'Sample', data: { number: 'F-1' }, path: '/fileContent/data' } },
    { template: undefined }
  ])
  has(t, judgeChain(['file', 'email'], { ...body, fileContent, template }), {
    word: 'validation_error',
    problems: ['/fileContent contradiction']
  })
  has(t, judgeChain(['file', 'email'], body), { word: 'validation_error', problems: ['/template required'] })
  t.strictSame(problems(['invoicing', 'email'], { fileContent }), ['/fileContent unknown_field'])
  t.end()
})

await t.test('a later e-mail has a body or a template of its own, and not both', (t) => {
  const { body, ...fields } = (continuations.email?.['email'] ?? {}) as Record<string, unknown>
  for (const path of [['file', 'email'], ['invoicing', 'sms', 'email', 'upload']] as const) {
    t.strictSame(problems(path, { email: fields }), ['/email/template required'])
    t.strictSame(problems(path, { email: { ...fields, body, template } }), ['/email/body contradiction'])
    t.strictSame(problems(path, { email: { ...fields, template: { id: 0 } } }), [
      '/email/template/data required',
      '/email/template/id too_small'
    ])
    has(t, read(path, { email: { ...fields, template: { id: 7, data: { a: 1 } } } }).steps.find(({ service }) => service === 'email'), {
      template: { id: 7, data: { a: 1 }, path: '/email/template/data' }
    })
  }
  has(t, judgeChain(['file', 'email'], chainBody(['file', 'email'], template, { email: fields })).details, [{
    message: 'The field "template" is required, or "email/body" instead.'
  }])
  t.end()
})

await t.test('a later text message has a text or a template of its own; of both the text wins', (t) => {
  const phoneNumber = '+33612345678'
  t.strictSame(problems(['file', 'sms'], { sms: { phoneNumber } }), ['/sms/template required'])
  t.strictSame(problems(['file', 'sms'], { sms: { phoneNumber, template } }), [])
  t.strictSame(problems(['file', 'sms'], { sms: { phoneNumber, message: 'Hello', template } }), [])
  t.end()
})

await t.test('what takes the document of the chain has no template', (t) => {
  for (const name of ['esign', 'postal', 'upload'] as const) {
    t.strictSame(problems(['file', name], { [name]: { ...continuations[name]?.[name] as object | undefined, template } }), [
      `/${name}/template unknown_field`
    ], name)
  }
  t.end()
})

const entry = { on: 'esign.completed', service: 'upload' }
const deferredOf = (deferred: unknown): string[] => problems(['esign', 'sms'], { deferred })

await t.test('a deferred step is read with all that it needs in its own entry', (t) => {
  const email = { from: 'demo@example.com', to: 'ada@example.com', subject: 'Signed' }
  const { deferred: [upload, mail] } = read(['file', 'esign'], {
    deferred: [{ ...entry, providerName: 'disk', settings: { label: 'x' } }, { on: 'esign.declined', service: 'email', ...email, template }]
  })
  has(t, upload, { service: 'upload', deferredOn: 'esign.completed', fields: {}, providerName: 'disk', settings: { label: 'x' } })
  t.equal(upload?.at('providerName'), '/deferred/0/providerName')
  has(t, mail, { service: 'email', deferredOn: 'esign.declined', template: { id: 1, path: '/deferred/1/template/data' } })
  t.strictSame(mail?.fields, email)
  t.equal(mail?.at('from'), '/deferred/1/from')
  t.end()
})

await t.test('what is wrong with a deferred step is told in its own entry', (t) => {
  t.strictSame(deferredOf([entry]), [])
  t.strictSame(deferredOf([{ service: 'upload' }]), ['/deferred/0/on required'])
  t.strictSame(deferredOf([{ ...entry, on: 'postal.delivered' }]), ['/deferred/0/on enum'], 'an event of a service in the path')
  t.strictSame(deferredOf([{ ...entry, on: 'esign.finished' }]), ['/deferred/0/on enum'])
  t.strictSame(deferredOf([entry, { ...entry, service: 'invoicing' }]), ['/deferred/1/service enum'])
  t.strictSame(deferredOf([{ ...entry, service: 'esign' }]), ['/deferred/0/service enum'], 'nobody knows where in that document to sign')
  t.strictSame(deferredOf([{ ...entry, folder: 'x' }]), ['/deferred/0/folder unknown_field'])
  t.strictSame(deferredOf([{ ...entry, service: 'sms' }]), ['/deferred/0/phoneNumber required', '/deferred/0/template required'])
  t.strictSame(deferredOf([{ ...entry, service: 'email', from: 'x', to: 'ada@example.com', subject: 'Hi', body: 'Hi', template }]), [
    '/deferred/0/from format',
    '/deferred/0/body contradiction'
  ])
  t.strictSame(deferredOf([7, {}]), ['/deferred/0 type', '/deferred/1/on required', '/deferred/1/service required'])
  t.strictSame(deferredOf({}), ['/deferred type'])
  t.end()
})

await t.test('at most five steps are deferred', (t) => {
  t.strictSame(deferredOf(Array(5).fill(entry)), [])
  t.strictSame(deferredOf(Array(6).fill(entry)), ['/deferred too_many'])
  t.end()
})

await t.test('only what is signed or posted goes on after it was accepted', (t) => {
  for (const path of [['sms'], ['file'], ['invoicing'], ['upload'], ...chains] as const) {
    const events = ['esign.completed', 'postal.delivered'].filter((event) => path.some((name) => event.startsWith(`${name}.`)))
    const body = chainBody(path, template, { deferred: events.length === 0 ? [entry] : events.map((on) => ({ on, service: 'upload' })) })
    const { details } = judgeRequest(() => readerFor(path)(body))
    t.strictSame(details.filter(({ path: place }) => place.startsWith('/deferred')).map(({ code }) => code),
      events.length === 0 ? ['unknown_field'] : [], path.join('/'))
  }
  t.end()
})

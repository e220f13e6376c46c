import { compile } from '@dispatch/common'
import { ProviderCode } from '@dispatch/contract'
import { isServiceName, needsProvider, type ProvidedName, providedNames, services } from '@dispatch/services'
import { createHmac } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import core from '../../core/package.json' with { type: 'json' }
import type { Written } from './openapi/write.ts'
import { describedReadmeOf, nameOf, readmeOf, type Subject } from './readme.ts'

/**
 * The code of a new provider, its service, and the directory of its folder. `folder`: its own path, by default its code in the directory.
 * `own`: in a repository of its own, where `npm test` passes from the start. `entry`: by default in TypeScript. `from`: the path of a
 * description of the vendor's API (OpenAPI), of which `operation` sends.
 */
export type NewProvider = {
  code: string
  service: string
  directory: string
  folder?: string
  own?: true
  entry?: Entry
  from?: string | undefined
  operation?: string | undefined
}
type Entry = 'index.ts' | 'index.js'

const fitCode = compile(ProviderCode)

/** Writes the folder of a new provider and resolves to its path. Throws an Error with one sentence when it cannot. */
export async function scaffoldProvider (wanted: NewProvider): Promise<string> {
  const { code, service, directory, folder = join(directory, code), own, entry = 'index.ts', from, operation } = wanted
  if (!fitCode(code).ok) {
    throw new Error(
      `"${code}" is no code of a provider: lowercase letters, digits and dashes, 2 to 41 characters, beginning with a letter.`
    )
  }
  if (!isServiceName(service) || !needsProvider(service)) {
    throw new Error(`"${service}" is no service that a provider does: ${providedNames.join(', ')}.`)
  }
  if (existsSync(folder)) throw new Error(`${folder} is there already: choose another code, or remove the folder.`)
  const written = from === undefined ? undefined : await writtenFrom(from, { code, service, operation })
  for (const [path, text] of Object.entries(filesOf({ code, service, entry, ...own && { own } }, written))) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  return folder
}

/** What a description says of the provider. */
async function writtenFrom (
  from: string,
  wanted: { code: string, service: ProvidedName, operation: string | undefined }
): Promise<Written> {
  const [{ readDescription }, { writeProvider }] = await Promise.all([import('./openapi/description.ts'), import('./openapi/write.ts')])
  return writeProvider(await readDescription(from), wanted)
}

/** A visible placeholder that an integrator replaces by the vendor's own values. The webhook's secret is another one. */
const apiKey = 'fake_key_5f2b8c91d04e7a63'
const webhookSecret = 'fake_secret_c81d4e2fa6b09357'

function settingsOf (service: ProvidedName): object {
  const { events, setting } = services[service].outline
  return {
    apiKey,
    ...(events !== undefined && { webhookSecret }),
    ...(setting !== undefined && { [setting.name]: setting.value })
  }
}

function filesOf (subject: Subject, written: Written | undefined): Record<string, string> {
  const { code, service, entry, own } = subject
  const { events } = services[service].outline
  const facts = {
    'package.json': json({
      name: `dispatch-provider-${code}`,
      version: '1.0.0',
      private: true,
      type: 'module',
      exports: `./${entry}`,
      peerDependencies: { [core.name]: `^${core.version}` }
    })
  }
  if (written !== undefined) {
    return {
      ...facts,
      [entry]: written.source,
      'README.md': describedReadmeOf(subject, written),
      'fixtures/send.accepted.json': json(written.fixture)
    }
  }
  return {
    ...facts,
    [entry]: definitionOf(code, service, own),
    'README.md': readmeOf(subject, Object.keys(settingsOf(service))),
    'fixtures/send.accepted.json': json(fixtureOf(code, service)),
    ...Object.fromEntries(
      Object.entries(events ?? {}).map(([word, status]) => [`fixtures/webhook.${status}.json`, json(eventOf(service, word, status))])
    ),
    ...(events === undefined ? {} : { 'fixtures/webhook.signed.json': json(signedEventOf(code, service)) })
  }
}

function definitionOf (code: string, service: ProvidedName, own: true | undefined): string {
  const { vocabulary, outline: { capabilities, path, body, filled, events, setting } } = services[service]
  const host = `api.${code}.example.com`
  return `import { ${setting === undefined ? '' : `${setting.by}, `}defineProvider, Secret, Type } from '@dispatch/core/provider'

/** The read part of the vendor's answer to an accepted request. */
const Sent = Type.Object({ id: Type.String(), status: Type.String()${
    // An answer with an error in it has issued nothing.
    vocabulary === 'invoice' ? ', error: Type.Optional(Type.Null())' : ''} })
${
    events === undefined ? '' : `
/** The vendor's later event. */
const Event = Type.Object({ id: Type.String(), type: Type.String(), about: Type.Object({ id: Type.String() }) })
`
  }
export default defineProvider({
  code: '${code}',
  name: '${nameOf(code)}',
  docs: 'https://${code}.example.com/docs',
  hosts: ['${host}'],
  settings: Type.Object({
    apiKey: Secret({ title: 'API key', description: 'Where ${nameOf(code)} shows it.' })${
    events === undefined ? '' : `,
    webhookSecret: Secret({ title: 'Signing secret of the webhook', description: 'Where ${nameOf(code)} shows it.' })`
  }${
    setting === undefined ? '' : `,
    ${setting.name}: ${setting.by}()`
  }
  }),
  errors: { at: '/error/code', message: '/error/message', map: {} },
  services: {
    ${service}: {
${capabilities.map((line) => `      ${line},\n`).join('')}      idempotency: { kind: 'none' },
      async dispatch (request, { settings, http }) {
        const ${body} = ${own === true ? filled : '{}'}
        const { id, status } = await http.post('https://${host}${path}', { bearer: settings.apiKey, ${body} }, Sent)
        return { id, status }
      }
    }
  }${events === undefined ? '' : webhooksOf(service, events)}
})
`
}

function webhooksOf (service: ProvidedName, events: Readonly<Record<string, string>>): string {
  return `,
  webhooks: {
    ${service}: {
      verify: { kind: 'hmac', header: 'x-signature', algorithm: 'sha256', encoding: 'hex', secret: 'webhookSecret' },
      body: Event,
      read: ({ id, type, about }) => ({ eventId: id, remoteId: about.id, type }),
      events: { ${Object.entries(events).map(([word, status]) => `'${word}': '${status}'`).join(', ')} }
    }
  }`
}

function fixtureOf (code: string, service: ProvidedName): object {
  const { path, body, request, sends } = services[service].outline
  return {
    service,
    settings: settingsOf(service),
    request,
    exchange: [{
      expect: { method: 'POST', url: `https://api.${code}.example.com${path}`, bearer: apiKey, [body]: sends },
      answer: { status: 201, json: { id: 'id_1', status: 'queued' } }
    }],
    result: { outcome: 'accepted', response: { id: 'id_1', status: 'queued' } }
  }
}

function eventOf (service: ProvidedName, word: string, status: string): Record<'service' | 'settings' | 'body' | 'expect', unknown> {
  return {
    service,
    settings: settingsOf(service),
    body: { id: `event_${status}`, type: word, about: { id: 'id_1' } },
    expect: { remoteId: 'id_1', type: word, status, eventId: `event_${status}` }
  }
}

/** An event as the vendor would sign it: a placeholder for one that it has sent. */
function signedEventOf (code: string, service: ProvidedName): object {
  const [[word, status] = ['', '']] = Object.entries(services[service].outline.events ?? {})
  const event = eventOf(service, word, status)
  const body = JSON.stringify(event.body)
  return {
    ...event,
    source: `Invented: put an event with its headers here that ${
      nameOf(code)
    } has sent, and the secret of the test account into "settings".`,
    headers: { 'X-Signature': createHmac('sha256', webhookSecret).update(body).digest('hex') },
    body
  }
}

function json (value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

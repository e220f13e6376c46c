import { type Fit, isRecord } from '@dispatch/common'
import { isServiceName, services } from '@dispatch/services'
import { type Manifest, readManifest } from './manifest.ts'
import { isVerb, verbNames } from './verbs.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * The manifest of a module's default export: its data, checked, without its verbs. `version` is that of the package. It takes any value,
 * because plain JavaScript may export anything.
 */
export function deriveManifest (definition: unknown, version: string): Fit<Manifest> {
  if (!isRecord(definition)) {
    return {
      ok: false,
      problems: [{ path: '', code: 'type', message: 'The default export is not a provider: write "export default defineProvider({ … })".' }]
    }
  }
  const { requestSettings = { type: 'object', properties: {} }, errors, hosts = [], ...data } = definition
  const manifest = {
    ...data,
    version,
    settings: closeForm(data['settings']),
    requestSettings: closeForm(requestSettings),
    hosts,
    errors: isRecord(errors) ? { map: {}, ...errors } : errors ?? { map: {} },
    suggestions: suggestionNames(data['suggestions']),
    services: isRecord(data['services']) ? mapFields(data['services'], serviceData) : data['services'],
    webhooks: isRecord(data['webhooks']) ? mapFields(data['webhooks'], webhookData) : data['webhooks']
  }
  return readManifest(JSON.parse(JSON.stringify(manifest)))
}

/** The settings that have a function each; what is no function is refused with the manifest. */
function suggestionNames (suggestions: unknown): unknown {
  return isRecord(suggestions) && Object.values(suggestions).every(isVerb) ? Object.keys(suggestions) : suggestions
}

/** A settings schema permits only the fields that it names. */
function closeForm (schema: unknown): unknown {
  return isRecord(schema) ? { ...schema, additionalProperties: false } : schema
}

/**
 * In a service definition, data and verbs stand side by side. A field that is neither a verb nor the host's own belongs to the service's
 * vocabulary.
 */
function serviceData (service: unknown, name: string): unknown {
  if (!isRecord(service)) return service
  const { idempotency, timeLimit, checkpoint, rest, notProcessed, statuses, poll, limits, carries, ignores, draftsStay, ...others } =
    service
  const fields = Object.entries(others).filter(([field, value]) => field !== 'check' || !isVerb(value))
  return {
    capabilities: { ...Object.fromEntries(fields.filter(([, value]) => !isVerb(value))), ...whoseDocument(name, service) },
    limits,
    carries,
    ignores,
    idempotency,
    timeLimit,
    checkpoint,
    draftsStay,
    rest,
    notProcessed,
    statuses,
    poll,
    verbs: fields.filter(([, value]) => isVerb(value)).map(([name]) => name).sort((one, other) => orderOf(one) - orderOf(other))
  }
}

/** The order of `verbNames`; an unknown verb comes last. */
function orderOf (verb: string): number {
  return [...verbNames, verb].findIndex((name) => name === verb)
}

function declaresDocument (name: string): boolean {
  return isServiceName(name) && services[name].capabilities?.properties['document'] !== undefined
}

/** Where a provider may declare that the document is the vendor's own, the verb `document` is that declaration. */
function whoseDocument (name: string, { document }: Fields): Fields {
  return declaresDocument(name) && isVerb(document) ? { document: 'theirs' } : {}
}

/**
 * The declaration of a webhook, without the function that reads its events. Any other value under that name is refused with the manifest.
 */
function webhookData (webhook: unknown): unknown {
  if (!isRecord(webhook)) return webhook
  const { read, ...data } = webhook
  return isVerb(read) ? data : { ...data, read: read ?? null }
}

function mapFields (record: Fields, change: (value: unknown, key: string) => unknown): Fields {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]))
}

import { Type, type TObject, type TProperties, type TSchema } from 'typebox'
import { AnyJsonObject, CallbackUrl, Metadata, ProviderCode } from '../contract/common.ts'
import type { JsonObject } from '../contract/json.ts'
import { services, type ServiceName } from './index.ts'

const closed = { additionalProperties: false } as const

const TemplateData = Type.Unsafe<JsonObject>({ ...AnyJsonObject, description: 'The data of the document; its schema belongs to the template.' })

/** A template by its number. */
const TemplateById = Type.Object({
  id: Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'The template.' }),
  data: TemplateData
}, closed)

/** A template by its name: the company's own before a shared one. */
const TemplateByName = Type.Object({
  templateName: Type.String({ minLength: 1, maxLength: 100 }),
  data: TemplateData
}, closed)

/** The schema of the body for these services: the CompositeRequest of the specification, narrowed to what they take. */
export function requestSchema (names: readonly ServiceName[]): TObject {
  return Type.Object({
    providerName: Type.Optional(ProviderCode),
    ...templateFields(names),
    metadata: Type.Optional(Metadata),
    settings: Type.Optional(Type.Unsafe<JsonObject>({ ...AnyJsonObject, description: 'Runtime parameters of the provider, as it declares them.' })),
    callbackUrl: Type.Optional(CallbackUrl),
    ...Object.fromEntries(names.flatMap((name) => liftedOf(name, names).map((field) => [field, optional(services[name].fields.properties[field])]))),
    ...Object.fromEntries(names.map((name) => [name, Type.Optional(Type.Partial(services[name].fields, closed))]))
  }, closed)
}

/** The fields of a service that may stand at the top level of a request for these services. */
export function liftedOf (name: ServiceName, names: readonly ServiceName[]): readonly string[] {
  const { lifted, liftedAlone = [] } = services[name]
  return names.length === 1 ? [...lifted, ...liftedAlone] : lifted
}

/** A template that nothing can take the place of is required here; whether one of several ways was taken is for the reader to say. */
function templateFields (names: readonly ServiceName[]): TProperties {
  const uses = names.flatMap((name) => services[name].template ?? [])
  if (uses.length === 0) return {}
  const isRequired = uses.some(({ unless, byName }) => unless === undefined && byName === undefined)
  return {
    template: isRequired ? TemplateById : Type.Optional(TemplateById),
    ...Object.fromEntries(uses.flatMap(({ byName }) => byName === undefined ? [] : [[byName, Type.Optional(TemplateByName)]]))
  }
}

function optional (schema: TSchema | undefined): TProperties[string] {
  if (schema === undefined) throw new Error('A service lifts a field that it does not have.')
  return Type.Optional(schema)
}

import { type ServiceContracts, Type } from '@dispatch/core/provider'
import { ask, type Call, Created, pathOf, Transaction, withdraw } from './api.ts'

type Request = ServiceContracts['esign']['dispatch']
type Signer = Request['esign']['signers'][number]

/** The least signature level of a signer: https://apps.universign.com/docs/guides/transactions/participants/set_signature_level/. */
const levels = { SIMPLE: 'level1', ADVANCED: 'level2', QUALIFIED: 'level4' } as const
const advancedWithQualifiedCertificate = 'level3'

const minutesOfDay = 24 * 60

/**
 * A complete draft that only needs to be started: https://apps.universign.com/docs/guides/transactions/quick_start/. Resolves to its id.
 */
export async function prepare ({ esign, document, signatures, metadata }: Request, call: Call): Promise<string> {
  const { signers, expiresInDays, locale } = esign
  const transaction = {
    name: `${document.filename} (${call.reference})`,
    language: locale,
    duration: expiresInDays * minutesOfDay,
    metadata: metadataOf(metadata, call)
  }
  const { id } = await call.http.post(...ask(call, 'transactions', { form: transaction }), Transaction)
  call.onRefusal((http) => withdraw(id, call, http))
  const file = await call.http.post(...ask(call, 'files', { multipart: { file: document } }), Created)
  const added = await call.http.post(...ask(call, `${pathOf(id)}/documents`, { form: { document: file.id, name: document.filename } }),
    Created)
  for (const [index, signer] of signers.entries()) {
    const places = signatures.filter((place) => place.signer === index + 1)
    await addFields(`${pathOf(id)}/documents/${encodeURIComponent(added.id)}/fields`, places, signer, `${pathOf(id)}/signatures`, call)
    await call.http.post(...ask(call, `${pathOf(id)}/participants`, { form: participantOf(signer, levelOf(esign, call)) }), Type.Unknown())
  }
  for (const step of sequenceOf(signers)) await call.http.post(...ask(call, `${pathOf(id)}/sequencing`, { form: step }), Type.Unknown())
  return id
}

function levelOf ({ signatureType }: Request['esign'], { settings, requestSettings }: Call): string {
  const { qualifiedCertificate = false } = { ...settings, ...requestSettings }
  return signatureType === 'ADVANCED' && qualifiedCertificate ? advancedWithQualifiedCertificate : levels[signatureType]
}

/** The code is sent to the given number. A signer with an existing certificate may have another number there. */
function participantOf ({ email, firstName, lastName, phoneNumber }: Signer, level: string): Record<string, string> {
  return {
    email,
    full_name: `${firstName} ${lastName}`,
    min_signature_level: level,
    ...(phoneNumber !== undefined && { phone_number: phoneNumber, phone_number_type: 'flex_prerequisite' })
  }
}

/** https://apps.universign.com/docs/guides/transactions/general_settings/set_metadata/ */
const metadataLimits = { pairs: 15, key: /^[^=+_[\]]{1,20}$/, value: /^.{1,200}$/s }

/** Our reference, and the part of the client's metadata that Universign accepts. */
function metadataOf (metadata: Request['metadata'], { reference }: Call): Record<string, string> {
  const fitting = Object.entries(metadata).filter(([key, value]) => metadataLimits.key.test(key) && metadataLimits.value.test(value))
  return Object.fromEntries([...fitting.slice(0, metadataLimits.pairs - 1), ['dispatch reference', reference]])
}

/** A field for each place, with the instruction to sign there. Without a place, it is a single field that no page shows. */
async function addFields (
  fields: string,
  places: Request['signatures'],
  { email }: Signer,
  instructions: string,
  call: Call
): Promise<void> {
  const positions = places.length === 0 ? [{}] : places.map(({ page, x, y }) => ({ page, x: Math.round(x), y: Math.round(y) }))
  for (const position of positions) {
    const field = await call.http.post(...ask(call, fields, { form: { type: 'signature', ...position } }), Created)
    await call.http.post(...ask(call, instructions, { form: { signer: email, field: field.id } }), Type.Unknown())
  }
}

/** The order of signing: those with a lower number sign first. Without an order, all are asked at once. */
function sequenceOf (signers: readonly Signer[]): { before: string[], after: string[] }[] {
  const orders = [...new Set(signers.flatMap(({ order = 1 }) => order))].sort((a, b) => a - b)
  const groups = orders.map((wanted) => signers.filter(({ order = 1 }) => order === wanted).map(({ email }) => email))
  return groups.slice(1).map((after, index) => ({ before: groups[index] ?? [], after }))
}

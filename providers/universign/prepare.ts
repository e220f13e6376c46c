import { Type, type ServiceContracts } from '@dispatch/core/provider'
import { ask, Created, pathOf, Transaction, type Call } from './api.ts'

type Request = ServiceContracts['esign']['dispatch']
type Signer = Request['esign']['signers'][number]

/** The level that a signer must reach at least. Which levels are advanced and qualified, the documentation does not say. */
const levels: Readonly<Record<string, string>> = { SIMPLE: 'level1' }
export const signatureTypes: ['SIMPLE'] = ['SIMPLE']

const minutesOfDay = 24 * 60

/** A draft that lacks nothing but its start: https://apps.universign.com/docs/guides/transactions/quick_start/. Resolves to its id. */
export async function prepare ({ esign, document, signatures }: Request, call: Call): Promise<string> {
  const { signers, signatureType, expiresInDays, locale } = esign
  const transaction = { name: `${document.filename} (${call.reference})`, language: locale, duration: expiresInDays * minutesOfDay }
  const { id } = await call.http.post(...ask(call, 'transactions', { form: transaction }), Transaction)
  const file = await call.http.post(...ask(call, 'files', { multipart: { file: document } }), Created)
  const added = await call.http.post(...ask(call, `${pathOf(id)}/documents`, { form: { document: file.id, name: document.filename } }), Created)
  for (const [index, signer] of signers.entries()) {
    const places = signatures.filter((place) => place.signer === index + 1)
    await addFields(`${pathOf(id)}/documents/${encodeURIComponent(added.id)}/fields`, places, signer, `${pathOf(id)}/signatures`, call)
    const participant = { email: signer.email, full_name: `${signer.firstName} ${signer.lastName}`, min_signature_level: levels[signatureType] }
    await call.http.post(...ask(call, `${pathOf(id)}/participants`, { form: participant }), Type.Unknown())
  }
  for (const step of sequenceOf(signers)) await call.http.post(...ask(call, `${pathOf(id)}/sequencing`, { form: step }), Type.Unknown())
  return id
}

/** A field for each place, and the instruction to sign there. Without a place it is a single field, which is not seen on a page. */
async function addFields (fields: string, places: Request['signatures'], { email }: Signer, instructions: string, call: Call): Promise<void> {
  const positions = places.length === 0 ? [{}] : places.map(({ page, x, y }) => ({ page, x: Math.round(x), y: Math.round(y) }))
  for (const position of positions) {
    const field = await call.http.post(...ask(call, fields, { form: { type: 'signature', ...position } }), Created)
    await call.http.post(...ask(call, instructions, { form: { signer: email, field: field.id } }), Type.Unknown())
  }
}

/** Who signs before whom: those of an order before those of the next. Without an order all are asked at once. */
function sequenceOf (signers: readonly Signer[]): { before: string[], after: string[] }[] {
  const orders = [...new Set(signers.flatMap(({ order = 1 }) => order))].sort((a, b) => a - b)
  const groups = orders.map((wanted) => signers.filter(({ order = 1 }) => order === wanted).map(({ email }) => email))
  return groups.slice(1).map((after, index) => ({ before: groups[index] ?? [], after }))
}

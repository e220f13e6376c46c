import { at, type JsonObject, refused, type ServiceContracts } from '@dispatch/core/provider'
import type { Call } from './settings.ts'

type Request = ServiceContracts['invoicing']['dispatch']

/** A number is unique for each document type. A repeated step with its own number is not a duplicate. */
export async function claimNumber ({ invoicing: { documentType }, data }: Request, { reference, state }: Call): Promise<string> {
  const number = at(data, '/number')
  if ((typeof number !== 'string' && typeof number !== 'number') || number === '') {
    throw refused('missing_number', 'The document has no number.')
  }
  const holder = await state.putIfAbsent(`number:${documentType}:${number}`, reference)
  if (holder !== reference) throw refused('duplicate_number', `The number "${number}" of a document of type ${documentType} is taken.`)
  return String(number)
}

/** Addresses under .invalid do not exist (RFC 2606). */
export function invoiceAnswer (
  { invoicing: { documentType, sendByEmail = false } }: Request,
  id: string,
  number: string,
  { requestSettings }: Call
): JsonObject & { status: string } {
  const { includePaymentCollectionLink = false, paymentCollectionBeneficiaryName: beneficiary, paymentCollectionLabel: label } =
    requestSettings
  const payment = new URLSearchParams({ ...(beneficiary !== undefined && { beneficiary }), ...(label !== undefined && { label }) })
  return {
    status: sendByEmail ? 'sent' : 'created',
    url: `https://simulator.invalid/documents/${id}`,
    documentType,
    number,
    ...(includePaymentCollectionLink && { paymentUrl: `https://simulator.invalid/pay/${id}?${payment.toString()}` })
  }
}

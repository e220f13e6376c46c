import { type Static, Type } from '@dispatch/core/provider'
import { ask, pathOf, type Product } from './api.ts'
import type { Call } from './settings.ts'

const Text = Type.Optional(Type.Union([Type.String(), Type.Null()]))

const Recipient = Type.Object({
  last_main_delivery_status: Type.Optional(Type.Union([Type.Object({ category: Text }), Type.Null()])),
  undelivered_mail_date: Text,
  undelivered_mail_reason: Text,
  registered_number: Text,
  deposit_proof_date: Text,
  acknowledgement_of_receipt_date: Text
})
const Recipients = Type.Object({ recipients: Type.Array(Recipient) })

/** Why La Poste could not deliver a letter, by Maileva's code. */
const reasons: Readonly<Record<string, string>> = {
  N02: 'The recipient is not known at the address.',
  N03: 'The letter was announced, and nobody came for it.',
  N05: 'The recipient has refused the letter.',
  N07: 'The address cannot be reached, or is wrong.'
}

/** The status of a printed letter, and the dates of what Maileva has of it: proofs, and the picture of a returned letter. */
export async function becameOf (id: string, product: Product, call: Call): Promise<Record<string, string> & { status: string }> {
  const { recipients: [recipient = {}] } = await call.http.get(...ask(call, product, `${pathOf(id)}/recipients`), Recipients)
  const facts = {
    registeredNumber: recipient.registered_number,
    depositProofDate: recipient.deposit_proof_date,
    acknowledgementDate: recipient.acknowledgement_of_receipt_date,
    undeliveredDate: recipient.undelivered_mail_date,
    reason: reasonOf(recipient)
  }
  return {
    status: wordOf(recipient),
    ...Object.fromEntries(Object.entries(facts).flatMap(([name, fact]) => typeof fact === 'string' ? [[name, fact]] : []))
  }
}

function wordOf ({ last_main_delivery_status: last, undelivered_mail_date: returned }: Static<typeof Recipient>): string {
  return typeof returned === 'string' ? 'UNDELIVERED' : last?.category ?? 'PROCESSED'
}

function reasonOf ({ undelivered_mail_reason: code }: Static<typeof Recipient>): string | undefined {
  return typeof code === 'string' ? reasons[code] ?? code : undefined
}

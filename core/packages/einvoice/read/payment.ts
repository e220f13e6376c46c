import type { JsonObject } from '@dispatch/common'
import { compact, known, listField, objectField, oneOrMore, textField } from '../model/fields.ts'
import type { Account, Payment } from '../model/model.ts'

type Setting = { currency: string, isDueDateThere: boolean }

/**
 * How the invoice is paid. A UBL credit note states its due date here. So a credit note with a due date always has a payment, with means
 * that are not defined (1).
 */
export function readPayment (data: JsonObject, setting: Setting): Payment | undefined {
  const [given, how] = [objectField(data, 'payment'), readHow(data)]
  const reference = textField(given, 'reference')
  const means = textField(given, 'means') ?? meansOf(how, setting) ?? (reference === undefined ? undefined : '1')
  return means === undefined ? undefined : { means, text: textField(given, 'text'), reference, ...partsOf(means, how) }
}

/** Further ways to pay. What they do not say is not in the model, and the rules ask for it. */
export function readOtherPayments (data: JsonObject, currency: string): Payment[] {
  return listField(data, 'otherPayments').map((given) => {
    const how = readHow(asWhole(given))
    const means = textField(given, 'means') ?? meansOf(how, { currency, isDueDateThere: false }) ?? ''
    return { means, text: textField(given, 'text'), reference: undefined, ...partsOf(means, how) }
  })
}

/** A further way to pay, in the form that it would have as the only one of an invoice. */
export function asWhole (given: JsonObject): JsonObject {
  const { bankDetails } = given
  return { payment: given, ...(bankDetails === undefined ? {} : { bankDetails }) }
}

export type How = Pick<Payment, 'account' | 'otherAccounts' | 'mandate' | 'card'>

/** All payment facts of the data. The means of payment decide which of them are used. */
export function readHow (data: JsonObject): How {
  const given = objectField(data, 'payment')
  const [mandate, card] = [objectField(given, 'mandate'), objectField(given, 'card')]
  const number = textField(card, 'number')
  const [account, ...otherAccounts] = [
    ...oneOrMore(data, 'bankDetails').map(({ given: bank }) => bank),
    ...listField(data, 'otherAccounts')
  ].flatMap((bank) => accountIn(bank) ?? [])
  return {
    account,
    otherAccounts,
    mandate: known({
      reference: textField(mandate, 'reference'),
      creditorId: textField(mandate, 'creditorId'),
      account: compact(mandate, 'account')
    }),
    card: number === undefined ? undefined : { number, holder: textField(card, 'holder') }
  }
}

function accountIn (bank: JsonObject): Account | undefined {
  const iban = compact(bank, 'iban')?.toUpperCase()
  const account = known({ iban, other: iban === undefined ? textField(bank, 'account') : undefined })
  return account === undefined ? undefined : { ...account, holder: textField(bank, 'accountHolder'), bic: compact(bank, 'bic') }
}

/**
 * Sellers state their bank details on every invoice. An invoice that is collected or paid by card leaves them out; a transfer leaves out
 * the mandate and the card.
 */
function partsOf (means: string, { mandate, card, ...accounts }: How): How {
  const none = { account: undefined, otherAccounts: [] }
  if (['49', '59'].includes(means)) return { ...none, mandate, card: undefined }
  if (['48', '54', '55'].includes(means)) return { ...none, mandate: undefined, card }
  return ['30', '31', '42', '57', '58'].includes(means)
    ? { ...accounts, mandate: undefined, card: undefined }
    : { ...accounts, mandate, card }
}

/** UNTDID 4461, derived from the given facts: direct debit, card, credit transfer (58 and 59 inside SEPA). */
function meansOf ({ account, mandate, card }: How, { currency, isDueDateThere }: Setting): string | undefined {
  if (mandate !== undefined) return currency === 'EUR' ? '59' : '49'
  if (card !== undefined) return '48'
  if (account !== undefined) return currency === 'EUR' && account.iban !== undefined ? '58' : '30'
  return isDueDateThere ? '1' : undefined
}

import type { JsonObject } from '@dispatch/common'
import { compact, known, objectField, textField } from '../model/fields.ts'
import type { Payment } from '../model/model.ts'

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

export type How = Pick<Payment, 'account' | 'mandate' | 'card'>

/** All payment facts of the data. The means of payment decide which of them are used. */
export function readHow (data: JsonObject): How {
  const [given, bank] = [objectField(data, 'payment'), objectField(data, 'bankDetails')]
  const [mandate, card] = [objectField(given, 'mandate'), objectField(given, 'card')]
  const [number, iban] = [textField(card, 'number'), compact(bank, 'iban')?.toUpperCase()]
  const account = known({ iban, other: iban === undefined ? textField(bank, 'account') : undefined })
  return {
    account: account === undefined ? undefined : { ...account, holder: textField(bank, 'accountHolder'), bic: compact(bank, 'bic') },
    mandate: known({
      reference: textField(mandate, 'reference'),
      creditorId: textField(mandate, 'creditorId'),
      account: compact(mandate, 'account')
    }),
    card: number === undefined ? undefined : { number, holder: textField(card, 'holder') }
  }
}

/**
 * Sellers state their bank details on every invoice. An invoice that is collected or paid by card leaves them out; a transfer leaves out
 * the mandate and the card.
 */
function partsOf (means: string, { account, mandate, card }: How): How {
  if (['49', '59'].includes(means)) return { account: undefined, mandate, card: undefined }
  if (['48', '54', '55'].includes(means)) return { account: undefined, mandate: undefined, card }
  return ['30', '31', '42', '57', '58'].includes(means) ? { account, mandate: undefined, card: undefined } : { account, mandate, card }
}

/** UNTDID 4461, derived from the given facts: direct debit, card, credit transfer (58 and 59 inside SEPA). */
function meansOf ({ account, mandate, card }: How, { currency, isDueDateThere }: Setting): string | undefined {
  if (mandate !== undefined) return currency === 'EUR' ? '59' : '49'
  if (card !== undefined) return '48'
  if (account !== undefined) return currency === 'EUR' && account.iban !== undefined ? '58' : '30'
  return isDueDateThere ? '1' : undefined
}

import { type Decimal, decimalOf, type JsonObject, Money, type Problem } from '@dispatch/common'
import { listField } from '../model/fields.ts'
import { nodesAt } from './fields.ts'
import type { XmlNode } from './xml.ts'

/** Whether a file may break a rule of its profile, because it follows a specification that permits more. */
export type Permits = (problem: Problem, data: JsonObject) => boolean

/** The registers that the extension of XRechnung has beside those of ISO 6523. */
const ownRegister = /^XR0[1-9]$/

/** What the rules of other profiles say of lines below lines, where these have them. */
const ofSubLines = /^\/lines\/\d+\/(parentLine|lineType)$/

/**
 * The extension of XRechnung 3: its own registers, XML as a supporting document, lines in lines, and payments to third parties, which are
 * due too.
 */
const extended = (root: XmlNode): Permits => {
  const third = nodesAt(root, 'cac:PrepaidPayment/cbc:PaidAmount').reduce((sum, { text }) => sum.add(decimalOf(text.trim()) ?? 0), zero)
  return ({ code, path }, data) => {
    if (['BR-CL-10', 'BR-CL-11', 'BR-CL-21', 'BR-CL-26'].includes(code)) return ownRegister.test(schemeAt(data, path))
    return ofSubLines.test(path) || code === 'BR-CL-24' || code === 'BR-CO-16' && numberIn(data, 'amountDue').eq(
          numberIn(data, 'total').sub(numberIn(data, 'prepaidAmount')).add(numberIn(data, 'roundingAmount')).add(third)
        )
  }
}

/** XRechnung for clean vehicles: what a line is classified by is of the directive about them too. */
const cleanVehicles: Permits = ({ code, path }, data) => {
  const line = listField(data, 'lines')[Number(path.split('/')[2])] ?? {}
  return code === 'BR-CL-13' && listField(line, 'classifications').some(({ list }) => list === 'CVD')
}

/** What a specification permits that is more than its profile. */
export function permitsOf (specification: string | undefined, root: XmlNode): Permits {
  if ((specification ?? '').includes('kosit:extension:xrechnung')) return extended(root)
  return (specification ?? '').includes('kosit:xrechnung:cvd') ? cleanVehicles : () => false
}

/** The scheme at a pointer that ends in `/scheme`: of one identifier, or of one of a list. */
function schemeAt (data: JsonObject, path: string): string {
  const at = path.split('/').slice(1)
  const found = at.reduce<unknown>((value, name) => (value as Readonly<Record<string, unknown>> | undefined)?.[name], data)
  return typeof found === 'string' ? found : ''
}

function numberIn (data: JsonObject, name: string): Decimal {
  return decimalOf(data[name]) ?? zero
}

const zero = new Money(0)

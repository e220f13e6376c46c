import { isRecord, type Json } from '@dispatch/common'
import { provesRefusal } from '@dispatch/host'
import { parseXml, type XmlFields, xmlText } from '@dispatch/vendor-io'
import type { Exchange } from '../fixtures/fixture.ts'
import { type Case, judged } from '../report.ts'
import type { Prepared } from '../run/prepare.ts'
import type { ProviderUnderTest } from '../run/subject.ts'

/** An answer that proves that nothing was done lets a client send again: its author must have seen it. */
export function refusalCases ({ installed: { manifest: { errors } } }: ProviderUnderTest, fit: readonly Prepared[]): Case[] {
  const refused = fit.filter(({ result }) => result['outcome'] === 'rejected').flatMap(({ call }) => call.exchange)
  return (errors.refusals ?? []).map((refusal, index) =>
    judged('refusals', `errors.refusals, number ${index + 1}`, refused.some(({ answer }) =>
        provesRefusal([refusal], answer.status ?? 200, bodyOf(answer))
      )
      ? []
      : ['No fixture shows it: write fixtures/send.….json in which the vendor answers so, with "outcome": "rejected".'])
  )
}

function bodyOf ({ json, xml }: Exchange[number]['answer']): Json {
  return isRecord(xml) ? parseXml(xmlText(xml as XmlFields)) : json ?? null
}

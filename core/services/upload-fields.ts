import type { Problem } from '@dispatch/common'
import { createRequestReader, type DispatchRequest } from './request.ts'

/** The fields of a multipart request that carry JSON. */
const jsonFields: readonly string[] = ['metadata', 'settings']

const read = createRequestReader(['upload'])

/** Reads the text fields of a multipart request for the upload service. Throws a `validation_error` with all problems of their shape. */
export function readUploadFields (fields: Readonly<Record<string, string>>): DispatchRequest {
  const problems: Problem[] = []
  const values = Object.entries(fields).flatMap(([name, text]) => {
    if (!jsonFields.includes(name)) return [[name, text] as const]
    const json = parse(text)
    if ('value' in json) return [[name, json.value] as const]
    problems.push({ path: `/${name}`, code: 'json', message: `Not JSON: write an object, such as {"orderId":"A-1001"} (${json.reason}).` })
    return []
  })
  return read(Object.fromEntries(values), problems)
}

function parse (text: string): { value: unknown } | { reason: string } {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch (error) {
    return { reason: error instanceof Error ? error.message : String(error) }
  }
}

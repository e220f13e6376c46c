import type { Problem } from '@dispatch/common'
import type { ServicePath } from './chains.ts'
import { createRequestReader, type DispatchRequest, type RequestReader } from './request.ts'

/** The fields of a multipart request that carry JSON. */
const jsonFields: readonly string[] = ['metadata', 'settings']

/**
 * Reads the text fields of a multipart request for services whose file comes with it. The reader throws a `validation_error` with all
 * problems of their shape.
 */
export function createUploadReader (path: ServicePath): (fields: unknown) => DispatchRequest {
  const read = createRequestReader(path)
  return (fields) => readWith(read, fields as Readonly<Record<string, string>>)
}

function readWith (read: RequestReader, fields: Readonly<Record<string, string>>): DispatchRequest {
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

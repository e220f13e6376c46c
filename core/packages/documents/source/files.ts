import { isRecord } from '@dispatch/common'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { TemplateError } from '../model/errors.ts'

/** What a template's folder says, before it is checked. */
export type TemplateFiles = {
  /** The text of template.yaml. */
  yaml: string
  /** The JSON Schema (2020-12) of the data. */
  schema: Record<string, unknown>
  sample: Record<string, unknown>
}

/** Reads the files of a template's folder without its pictures. Throws a TemplateError for what is no JSON object. */
export async function readTemplateFiles (path: string): Promise<TemplateFiles> {
  const yaml = await readFile(join(path, 'template.yaml'), 'utf8')
  return { yaml, schema: await readJson(join(path, 'schema.json')), sample: await readJson(join(path, 'sample.json')) }
}

/** The JSON object in a file. */
export async function readJson (file: string): Promise<Record<string, unknown>> {
  const value = parseJson(await readFile(file, 'utf8'), file)
  if (isRecord(value)) return value
  throw new TemplateError([{ path: '', message: 'Expected a JSON object.', file }])
}

function parseJson (text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new TemplateError([{ path: '', message: error instanceof Error ? `${error.message}.` : 'Not JSON.', file }], { cause: error })
  }
}

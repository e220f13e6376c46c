import type { Problem } from '@dispatch/common'

/** The data cannot become a document. The paths of `problems` are JSON pointers into the template's data; `''` is the whole. */
export class RenderError extends Error {
  readonly problems: readonly Problem[]

  constructor (problems: readonly Problem[], options?: ErrorOptions) {
    super(problems.map(({ path, message }) => path === '' ? message : `${path}: ${message}`).join(' '), options)
    this.name = 'RenderError'
    this.problems = problems
  }
}

/**
 * One fault of a template. `path` is a JSON pointer into template.yaml, `code` is for machines. `line` and `column` (from 1) are known for
 * a template that was read from text.
 */
export type Fault = { path: string, message: string, code?: string, file?: string, line?: number, column?: number }

/** A template cannot be used. */
export class TemplateError extends Error {
  readonly faults: readonly Fault[]

  constructor (faults: readonly Fault[], options?: ErrorOptions) {
    super(faults.map(describe).join('\n'), options)
    this.name = 'TemplateError'
    this.faults = faults
  }
}

function describe ({ file, line, column, path, message }: Fault): string {
  const place = [file, line, column].filter((part) => part !== undefined).join(':')
  return `${place === '' ? path : place} ${message}`.trim()
}

/** A {@link RenderError} with one problem. */
export function renderError (path: string, code: string, message: string, cause?: unknown): RenderError {
  return new RenderError([{ path, code, message }], { cause })
}

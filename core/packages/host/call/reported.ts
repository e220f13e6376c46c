import { compile, type Fit } from '@dispatch/common'
import type { Redactor } from '@dispatch/vendor-io'
import { Type } from 'typebox'
import { withPlainReason } from '../contain/reason.ts'
import type { Reported } from '../manifest/definition.ts'

const fitReported = compile(Type.Unsafe<Reported>(Type.Object({ status: Type.String({ minLength: 1, maxLength: 200 }) })))

/** Checks the plain JSON that `status` or `cancel` returned, and takes secrets out of it. */
export function readReported (returned: unknown, redact: Redactor): Fit<Reported> {
  const fit = fitReported(returned)
  return fit.ok ? { ok: true, value: withPlainReason(redact.json(fit.value)) } : fit
}

import type { Problem } from '@dispatch/common'
import { isSince, usualVersion } from '@dispatch/contract'
import { services } from '@dispatch/services'
import type { Directories } from '../../configuration/directories.ts'
import type { DispatchCommand } from '../command.ts'
import type { DispatchPlan } from './plan.ts'

/**
 * Warns of each recipient whom the directory of the step's provider, or that of Peppol, does not know, or who receives nothing any more. A
 * directory that does not answer warns of nobody.
 */
export async function unknownRecipients (
  { directories }: { directories: Pick<Directories, 'unknownIn'> },
  { steps, test }: DispatchPlan,
  { actor: { companyId, userId }, version = usualVersion }: DispatchCommand
): Promise<Problem[]> {
  if (!isSince('1.1.0', version)) return []
  const found = await Promise.all(steps.map(async ({ service, fields, template, by }): Promise<Problem[]> => {
    const address = template && services[service].electronicAddress?.(fields, template.data)
    if (template === undefined || address === undefined || by === undefined) return []
    const { place, ...requested } = address
    const found = await directories.unknownIn({ companyId, userId, test }, service, by, requested)
    if (found === undefined) return []
    const { directory, status } = found
    const at = `${requested.scheme}:${requested.id}`
    return [{
      path: `${template.path}${place}`,
      code: status === 'unknown' ? 'unknown_recipient' : 'inactive_recipient',
      message: (status === 'unknown'
        ? `The directory of "${directory}" knows nobody at ${at}: `
        : `The directory of "${directory}" says that nobody receives invoices at ${at} now: `) +
        'GET /api/v1/e-invoices/recipients tells where somebody receives.'
    }]
  }))
  return found.flat()
}

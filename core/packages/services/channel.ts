import type { Problem } from '@dispatch/common'
import type { AnyService, Channel } from './service.ts'

const made: Readonly<Record<Channel, string>> = { pages: 'a document of pages', mail: 'an e-mail', message: 'a text message' }

/**
 * Refuses a template that is made for something else: a letter as a text message. `services`: those that it is made for. One that is made
 * for files alone says nothing of its use.
 */
export function checkChannel (
  { name, template }: Pick<AnyService, 'name' | 'template'>,
  { services, path }: { services: readonly Pick<AnyService, 'name' | 'template'>[], path: string }
): Problem[] {
  const { channel = 'any', takes = [] } = template ?? {}
  const channels = services.map((other) => other.template?.channel ?? 'any')
  if (channel === 'any' || channels.some((other) => other === 'any' || other === channel || takes.includes(other))) return []
  const names = services.map((other) => `"${other.name}"`).join(' and ')
  return [{
    path,
    code: 'wrong_template',
    message:
      `The template is made for ${names}, and "${name}" takes one for ${made[channel]}. A template of your own may list "${name}" in ` +
      'its "alsoFor".'
  }]
}

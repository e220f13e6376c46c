import { inFrench, Secret, Type } from '@dispatch/core/provider'

export const Settings = Type.Object({
  username: Type.String({
    title: 'User name',
    ...inFrench('Nom d’utilisateur', 'celui du compte'),
    description: 'that of the account',
    pattern: '^[^\\s:]{1,100}$'
  }),
  password: Secret({
    title: 'Password',
    ...inFrench('Mot de passe', 'celui du compte'),
    description: 'that of the account',
    minLength: 6
  })
})

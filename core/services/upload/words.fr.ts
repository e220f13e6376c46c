export const fr = {
  service_upload: 'Dépôt'
}

export const fr = {
  service_upload: 'Dépôt',
  delivery_processing: 'en cours de traitement',
  delivery_available: 'déposé',
  delivery_deleted: 'supprimé'
}

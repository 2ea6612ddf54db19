using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "garden", worker = (
      modules = [(name = "worker.js", esModule = embed "worker.js")],
      compatibilityDate = "2026-01-01",
      bindings = [
        (name = "GARDEN", durableObjectNamespace = "Garden"),
        (name = "PLANT_TOKEN", fromEnvironment = "PLANT_TOKEN"),
      ],
      durableObjectNamespaces = [(className = "Garden", uniqueKey = "garden", enableSql = true)],
      durableObjectStorage = (localDisk = "disk"),
    )),
    (name = "disk", disk = (path = "plants", writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:3000", http = (), service = "garden")],
);

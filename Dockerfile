# syntax=docker/dockerfile:1
# The image: the single executable, the libraries it is linked to, and nothing else; no shell, no package manager, no root.
#   docker build -t cattail --build-arg COMMIT=$(git rev-parse --short=12 HEAD) .

FROM debian:trixie-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates libatomic1 nodejs npm
WORKDIR /cattail
COPY package.json package-lock.json ./
COPY tools/runtime tools/runtime
RUN npm ci
COPY tsconfig.json ./
COPY bin bin
COPY src src
COPY web web
COPY tools tools
ARG COMMIT=unknown
# Debian's npm does not link the Node 26 that it has just installed.
RUN PATH="$(echo $PWD/node_modules/node-linux-*/bin):$PATH" CATTAIL_COMMIT=$COMMIT npm run build:binary \
  && mkdir -p /image/usr/bin /image/usr/local/bin /image/usr/share/doc/cattail \
  && cp dist/binary/cattail /image/usr/local/bin/ \
  && cp dist/binary/licences.txt /image/usr/share/doc/cattail/ \
  # Beside the executable they need not be unpacked, so that it also runs where no folder can be written to.
  && cp node_modules/@napi-rs/snappy-linux-*-gnu/*.node /image/usr/local/bin/snappy.node \
  && cp node_modules/@node-rs/crc32-linux-*-gnu/*.node /image/usr/local/bin/crc32.node \
  # What the original is called: as a program of its own, and as a part of `calico`.
  && ln -s cattail /image/usr/local/bin/calico-typha \
  && ln -s ../local/bin/cattail /image/usr/bin/calico \
  # Node is linked to libatomic, which the base image lacks.
  && cp --parents -L /usr/lib/*-linux-gnu/libatomic.so.1 /image

FROM gcr.io/distroless/cc-debian13:nonroot
COPY --from=build /image/usr /usr
USER 10001:10001
EXPOSE 5473
# The allocator would keep memory apart for each thread, a tenth of the process.
ENV MALLOC_ARENA_MAX=2
# SIGTERM hands clients over one by one, within TYPHA_SHUTDOWNTIMEOUTSECS.
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/local/bin/cattail"]
CMD ["typha"]

# The context manager with its private Postgres, for people with a container engine; see compose.yaml.

FROM node:20-trixie-slim AS console
WORKDIR /src/web/console
COPY web/console/package.json web/console/package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY README.md /src/
COPY graph/schema /src/graph/schema
COPY web /src/web
RUN npm run build

FROM golang:1.26-trixie AS server
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
COPY --from=console /src/web/dist web/dist
RUN CGO_ENABLED=0 go build -trimpath -o /context-manager .

FROM debian:trixie-slim
# No cluster of the package's own: the server makes one in /data.
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates postgresql-common \
 && sed -i 's/^#\?create_main_cluster *=.*/create_main_cluster = false/' /etc/postgresql-common/createcluster.conf \
 && apt-get install -y --no-install-recommends postgresql-17 postgresql-17-pgvector \
 && rm -rf /var/lib/apt/lists/* \
 && install -d -o postgres -g postgres -m 700 /data
COPY --from=server /context-manager /usr/local/bin/context-manager
USER postgres
WORKDIR /data
ENV ADDR=0.0.0.0:8080 DATA_DIR=/data
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
ENTRYPOINT ["context-manager"]

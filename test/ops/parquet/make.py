"""Writes the reports beside it with pyarrow 26: `python make.py` in this folder. Columns have the types of AWS Data Exports."""
import datetime as d, sys
import pyarrow as pa, pyarrow.parquet as pq
START = d.datetime(2026, 11, 1)
def rows():
    for hour in range(12):
        at = START + d.timedelta(hours=hour)
        for kind, usage, cost, tags in [
            ('Usage', 'USE2-BoxUsage:m6i.large', 0.096, {'user_ropewalk_cluster': '7', 'user_ropewalk_deployment': 'd_test', 'user_team': 'Ärzte "x"'}),
            ('Usage', 'PublicIPv4:InUseAddress', 0.005, {'user_ropewalk_cluster': '7', 'user_ropewalk_deployment': 'd_test'}),
            ('DiscountedUsage', 'BoxUsage:m6i.large', 0.0, {'user_ropewalk_cluster': '8', 'user_ropewalk_deployment': 'd_test'}),
            ('Usage', 'BoxUsage:m6i.large', 9.0, {'user_ropewalk_cluster': '7', 'user_ropewalk_deployment': 'd_other'}),
            ('Usage', 'BoxUsage:m6i.large', 9.0, None),
            ('Tax', '', 3.0, {}),
        ]:
            yield dict(identity_line_item_id=f'{usage}-{hour}', line_item_line_item_type=kind, line_item_usage_start_date=at,
                line_item_usage_end_date=at + d.timedelta(hours=1), line_item_usage_type=usage, line_item_unblended_cost=cost,
                reservation_effective_cost=0.05 if kind == 'DiscountedUsage' else None, resource_tags=None if tags is None else list(tags.items()),
                line_item_usage_amount=1.0)
schema = pa.schema([('identity_line_item_id', pa.string()), ('line_item_line_item_type', pa.string()),
    ('line_item_usage_start_date', pa.timestamp('ms')), ('line_item_usage_end_date', pa.timestamp('ms')), ('line_item_usage_type', pa.string()),
    ('line_item_unblended_cost', pa.float64()), ('reservation_effective_cost', pa.float64()), ('resource_tags', pa.map_(pa.string(), pa.string())),
    ('line_item_usage_amount', pa.float64())])
t = pa.Table.from_pylist(list(rows()), schema=schema)
for codec in ['snappy', 'gzip', 'zstd']:
    pq.write_table(t, f'cur-{codec}.parquet', compression=codec, row_group_size=7)
pq.write_table(t.drop(['line_item_unblended_cost']), 'cur-wrong.parquet', row_group_size=400)
i = t.schema.get_field_index('line_item_usage_start_date')
pq.write_table(t.set_column(i, 'line_item_usage_start_date', t.column(i).cast(pa.int64())), 'cur-no-time.parquet', row_group_size=400)
